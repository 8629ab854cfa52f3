"""The parts of a page that checks itself: panel and button, editors, the kernel's sources, and what runs, under a strict policy."""

from __future__ import annotations

import base64
import hashlib
import re
from collections.abc import Mapping, Sequence
from importlib import resources

from accountant.report.checking.runtime import PACKAGE, VERSION, pack
from profiles.errors import InvalidArgument
from profiles.presenting.elements import Child, Element, make
from proofs_check.archive import checker_digest, kernel_sources, make_checker

_ROOM = "accountant.report.checking"


def make_policy(style: str) -> str:
    """Return the content security policy: nothing is loaded, one script by its hash, a worker that the page itself makes, WebAssembly."""
    digests = [base64.b64encode(hashlib.sha256(text.encode()).digest()).decode() for text in (style, _script())]
    return (
        f"default-src 'none'; style-src 'sha256-{digests[0]}'; script-src 'sha256-{digests[1]}' 'wasm-unsafe-eval'; worker-src blob:; "
        "base-uri 'none'; form-action 'none'"
    )


def read_style() -> str:
    """Return the rules of style that the panel adds to a page."""
    return _text("checking.css")


def _text(name: str) -> str:
    return resources.files(_ROOM).joinpath(name).read_text(encoding="utf-8")


def _script() -> str:
    return "\n" + _text("page.js")


def make_panel(*children: Child) -> Element:
    """Return the panel: what is run, by what, with its hash, and where its answers go."""
    return make(
        "section",
        make("h2", "Check it in this browser", id="check-title"),
        *children,
        make("p", "Nothing was checked in this browser yet.", id="check-status", role="status"),
        make(
            "p", "The kernel is checker.pyz with the SHA-256 ", make("code", checker_digest(), id="check-digest"),
            "; compare it with the page docs/trust.md of the package. It runs in CPython ", make("span", "", id="check-python"),
            f" in WebAssembly ({PACKAGE} {VERSION}), which is inside this file; nothing is loaded from elsewhere.", class_="note",
        ),
        _sources(),
        id="check",
        aria_labelledby="check-title",
    )  # fmt: skip


def make_buttons(label: str) -> Element:
    """Return the button that checks, and the one that stops."""
    return make("p", make("button", label, id="check-again", type="button", data_run=""), " ", make_stop())


def make_stop() -> Element:
    """Return the button that ends the worker."""
    return make("button", "stop", id="check-stop", type="button", disabled="")


def make_editor(name: str, text: str) -> Element:
    """Return a certificate that may be changed before it is checked, with the place of its answer."""
    field = make("textarea", text, aria_label=f"certificate {name}", rows="8", spellcheck="false")
    opened = make("details", make("summary", f"For the curious: change the certificate {name}"), field)
    return make(
        "div", make("h3", f"Certificate of the {name}"), make("p", "not checked here yet", class_="answer"), opened, data_certificate=name
    )


def _sources() -> Element:
    parts = [
        make("details", make("summary", make("code", name)), _listing(name, text.decode("utf-8")))
        for name, text in kernel_sources().items()
    ]
    return make("details", make("summary", "The kernel's sources, as they run here"), make("div", parts, class_="inside"))


def _listing(name: str, text: str) -> Element:
    if not text.isascii():
        raise InvalidArgument(f"the kernel's module {name} was expected to be ASCII; correct it")
    return make("pre", "\n" + text, tabindex="0", role="group", aria_label=f"module {name}", data_module=name)


def make_scripts(runtime: Mapping[str, bytes]) -> Sequence[Element]:
    """Return what runs, and what it needs, as elements for the end of the page."""
    carried = {
        "runtime-wasm": base64.b64encode(pack(runtime["pyodide.asm.wasm"])).decode(),
        "runtime-library": base64.b64encode(pack(runtime["python_stdlib.zip"])).decode(),
        "checker": base64.b64encode(make_checker()).decode(),
        "harness": _text("harness.py"),
        "worker-source": _worker(runtime),
    }
    return [*(_raw(text, id=name, type="text/plain") for name, text in carried.items()), _raw(_script())]


def _worker(runtime: Mapping[str, bytes]) -> str:
    # one script of the runtime's two modules and ours: the worker loads none, and a page from a file may only start scripts
    made = runtime["pyodide.asm.mjs"].decode("utf-8").replace("export default _createPyodideModule;", "")
    loader = re.sub(r"//# sourceMappingURL=.*", "", runtime["pyodide.mjs"].decode("utf-8"))
    ((whole, name),) = re.findall(r"(export\{(\w+) as loadPyodide,\w+ as version\};)", loader)
    ours = _text("worker.js").replace("RUNTIME_LOADER", name).replace("RUNTIME_VERSION", repr(VERSION))
    return "\n".join(
        (
            '"use strict"; Object.defineProperty(globalThis, "importScripts", { value: () => { throw new Error() } })',
            made,
            loader.replace(whole, ""),
            ours,
        )
    ).replace("import.meta.url", "location.href")


def _raw(text: str, **attributes: str) -> Element:
    # what the page's parser would take for the end of it, or for a comment, is not in it
    if re.search(r"</script|<!--|<script", text, re.IGNORECASE):
        raise InvalidArgument("the runtime has text that a page cannot carry; another version is needed")
    made = make("script", **attributes)
    made.text = text
    return made
