"""Reports of small profiles, and a reader of HTML that is not ours."""

from __future__ import annotations

from dataclasses import dataclass, field
from html.parser import HTMLParser

import pytest

LLOYD = """
name = "weighted DP-Lloyd"
epsilon = "T*w*(1/beta_count + z/beta_sum)"
source = "Fay et al. 2024, Proposition 13"
[record]
z = [0, "1.5113"]
[parameters]
T = 10
beta_count = "20.5"
beta_sum = 30
[sampling]
q = "lam*m/n + (1-lam)*m*z**2/(n*xbar)"
lam = 0.5
m = 2000
n = 48740
xbar = 1.26396
"""

HOSTILE = r"""
# </pre></details><script>window.pwned = 1</script><!--
name = "</title><script>window.pwned = 1</script><img src=x onerror='window.pwned = 1'>"
epsilon = "w*(a + b_onerror_alert)*0.1 + 0*exp(w/9)"   # ]]></style><style>*{background:url(//evil.example/x)}
source = "\"><svg/onload=window.pwned=1> \u202Eevil \u0000 javascript:alert(1) &lt;b&gt; &amp; {{7*7}} </math><iframe src='//evil.example'>"
[record]
a = [0, 1]
[parameters]
b_onerror_alert = "0.5"
"""


class Reader(HTMLParser):
    """Reads a page into (tag, attributes) in order, and the text of every element by its place."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.text: list[str] = []
        self._inside: list[str] = []
        self.headings: list[tuple[int, str]] = []

    def handle_starttag(self, tag, attrs):
        self.tags.append((tag, dict(attrs)))
        self._inside.append(tag)
        if tag in ("h1", "h2", "h3", "h4"):
            self.headings.append((int(tag[1]), ""))

    def handle_endtag(self, tag):
        while self._inside and self._inside.pop() != tag:
            pass

    def handle_data(self, data):
        if not {"style", "script"} & set(self._inside):
            self.text.append(data)
        if self.headings and {"h1", "h2", "h3", "h4"} & set(self._inside):
            self.headings[-1] = (self.headings[-1][0], self.headings[-1][1] + data)


@dataclass
class Page:
    html: str
    tags: list[tuple[str, dict[str, str | None]]] = field(default_factory=list)
    text: str = ""
    headings: list[tuple[int, str]] = field(default_factory=list)

    def __post_init__(self) -> None:
        reader = Reader()
        reader.feed(self.html)
        reader.close()
        self.tags, self.text, self.headings = reader.tags, "".join(reader.text), reader.headings

    def all(self, tag: str) -> list[dict[str, str | None]]:
        return [attributes for name, attributes in self.tags if name == tag]


@pytest.fixture
def report(pdp, tmp_path):
    """Run ``pdp report`` and read the page."""

    def run(profile: str, *options: object, code: int = 0, name: str = "profile.toml") -> Page:
        reference = profile
        if "\n" in profile:
            (tmp_path / name).write_text(profile, encoding="utf-8")
            reference = str(tmp_path / name)
        out = tmp_path / "report.html"
        result = pdp("report", reference, "--out", out, "--date", "2026-01-31", *options)
        assert result.code == code, result.err + result.out
        return Page(out.read_text(encoding="utf-8"))

    return run
