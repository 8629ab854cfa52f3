"""Pages that check themselves, in a real headless Chromium: make test-browser, with PYODIDE the folder of the runtime."""

from __future__ import annotations

import json
import os
import re
import time
from pathlib import Path

import pytest

from accountant.cli.main import invoke
from accountant.report.checking.runtime import load_runtime
from tests.browsing import WINDOWS, import_webdriver, run_axe, set_window, start
from tests.documentation.pages import site_module
from tests.mutants.corpus import texts, write
from tests.mutants.families.compositions import claimed
from tests.report.conftest import LLOYD

pytestmark = pytest.mark.browser
webdriver = import_webdriver()
RUNTIME = Path(os.environ.get("PYODIDE", "node_modules/pyodide"))
if not (RUNTIME / "pyodide.asm.wasm").is_file():
    pytest.skip("the Python runtime is not installed (make test-browser)", allow_module_level=True)


@pytest.fixture(scope="module")
def report(tmp_path_factory):
    folder = tmp_path_factory.mktemp("self")
    (folder / "lloyd.toml").write_text(LLOYD)
    out = folder / "report.html"
    options = ["report", str(folder / "lloyd.toml"), "-e", "20", "--self-checking", "--runtime", str(RUNTIME), "--out", str(out)]
    assert invoke(options) == 0
    return out


@pytest.fixture(scope="module")
def chromium(tmp_path_factory):
    driver = start(webdriver, tmp_path_factory.mktemp("profile"))
    yield driver
    driver.quit()


def open_page(driver, file, window="desktop"):
    set_window(driver, window, dark=False)
    driver.get_log("browser")
    driver.get_log("performance")
    driver.get(file.as_uri())


def wait(driver, limit=90):
    """Wait until the page has an answer, and return it with the seconds that it took."""
    begun = time.monotonic()
    while time.monotonic() - begun < limit:
        if driver.execute_script("return document.querySelector('#check-stop').disabled"):
            return driver.find_element("id", "check-status").text, time.monotonic() - begun
        time.sleep(0.1)
    raise AssertionError(driver.find_element("id", "check-status").text)


def press(driver, name="check-again"):
    driver.execute_script("document.getElementById(arguments[0]).click()", name)
    return wait(driver)


def change(driver, selector, old, new):
    field = "const e = document.querySelector(arguments[0]); e.value = e.value.replace(arguments[1], arguments[2]); return e.value"
    assert new in driver.execute_script(field, selector, old, new)


def addresses(driver):
    asked = [json.loads(entry["message"])["message"] for entry in driver.get_log("performance")]
    return {event["params"]["request"]["url"] for event in asked if event["method"] == "Network.requestWillBeSent"} - {"data:,"}


@pytest.mark.parametrize("window", WINDOWS)
def test_the_button_checks_and_nothing_is_loaded(chromium, report, window):
    open_page(chromium, report, window)
    headline = chromium.find_element("css selector", ".headline")
    claimed = headline.find_element("css selector", "mn").text
    assert "claimed by the author" in headline.text
    said, seconds = press(chromium)
    assert re.fullmatch(rf"Accepted: all 2 certificates; epsilon is at most {re.escape(claimed)}, as the report claims \(.* s\)", said)
    assert seconds < 60
    assert "accepted by the kernel in this browser" in headline.text
    assert [e.text for e in chromium.find_elements("css selector", ".answer .badge")] == ["accepted"] * 2
    said, again = press(chromium)
    assert said.startswith("Accepted")
    print(window, round(seconds, 1), round(again, 1))  # noqa: T201
    found = addresses(chromium)
    assert {url.split(":")[0] for url in found} <= {"file", "blob"}
    assert len([url for url in found if url.startswith("file:")]) == 1
    assert chromium.get_log("browser") == []
    wide, inner = chromium.execute_script("return [document.documentElement.scrollWidth, window.innerWidth]")
    assert wide <= inner


def test_a_changed_digit_is_refused_and_the_step_is_named(chromium, report):
    open_page(chromium, report)
    change(chromium, "#check-claim", "23", "24")
    said, _ = press(chromium)
    assert said.startswith("Rejected at the claim: the report claims 24.")
    change(chromium, "#check-claim", "24", "23")
    change(
        chromium, "[data-certificate='bounds'] textarea", '"verdict": "proved",\n   "bound": "23', '"verdict": "proved",\n   "bound": "22'
    )
    said, _ = press(chromium)
    assert said.startswith("Rejected: 1 of 2 certificates")
    answer = chromium.find_element("css selector", "[data-certificate='bounds'] .answer").text
    assert answer.startswith("rejected at claims[1].proof")
    assert chromium.find_element("css selector", ".headline mn").text == "?"


def test_a_changed_kernel_is_refused(chromium, report, tmp_path):
    text = report.read_text(encoding="utf-8")
    (tmp_path / "shown.html").write_text(text.replace("if self.left &lt; 0", "if self.left &lt; 1", 1), encoding="utf-8")
    assert text != (tmp_path / "shown.html").read_text(encoding="utf-8")
    open_page(chromium, tmp_path / "shown.html")
    assert "sources that are shown are not those that would run" in press(chromium)[0]


def test_the_policy_lets_nothing_else_run(chromium, report, tmp_path):
    text = report.read_text(encoding="utf-8")
    (tmp_path / "more.html").write_text(text.replace("</body>", "<script>window.pwned = 1</script></body>"), encoding="utf-8")
    open_page(chromium, tmp_path / "more.html")
    assert chromium.execute_script("return window.pwned") is None
    refused = "const done = arguments[0]; fetch('data:,x').then(() => done('loaded'), () => done('refused'))"
    assert chromium.execute_async_script(refused) == "refused"


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("'{broken'", "is no file of a known format"),
        ("'['.repeat(500000)", "is no file of a known format"),
        ("'{\"a\":'.repeat(150000)", "is no file of a known format"),
        ("'x'.repeat(50000000)", "the kernel reads at most 1000000"),
        ("''", "is no file of a known format"),
        ("JSON.stringify({format: 'pdp-sample-certificate'})", "run pdp check on it"),
    ],
    ids=range(6),
)
def test_bad_input_is_one_sentence(chromium, report, text, said):
    open_page(chromium, report)
    chromium.execute_script(f"document.querySelector('[data-certificate] textarea').value = {text}")
    press(chromium)
    assert said in chromium.find_element("css selector", "[data-certificate] .answer").text
    assert chromium.execute_script("return 1 + 1") == 2


def test_the_keyboard_is_enough_and_stop_ends_it(chromium, report):
    open_page(chromium, report)
    chromium.execute_script("document.getElementById('check-again').focus()")
    chromium.switch_to.active_element.send_keys(webdriver.Keys.ENTER)
    chromium.find_element("id", "check-stop").send_keys(webdriver.Keys.ENTER)
    said, _ = wait(chromium)
    assert "stopped" in said or said.startswith("Accepted")
    chromium.execute_script("document.getElementById('check-again').focus()")
    chromium.switch_to.active_element.send_keys(webdriver.Keys.SPACE)
    assert wait(chromium)[0].startswith("Accepted")


@pytest.mark.parametrize("window", WINDOWS)
def test_axe_finds_nothing(chromium, report, window):
    open_page(chromium, report, window)
    press(chromium)
    chromium.execute_script("document.querySelectorAll('details').forEach(part => { part.open = true })")
    chromium.execute_cdp_cmd("Page.setBypassCSP", {"enabled": True})
    violations, passed = run_axe(chromium)
    assert violations == []
    assert passed > 15


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    """The page of the documentation site, and a file to drop on it."""
    folder = tmp_path_factory.mktemp("site")
    (folder / "check.html").write_text(site_module("checking").render(load_runtime(RUNTIME)), encoding="utf-8")
    return folder / "check.html"


def test_a_chosen_certificate_is_judged(chromium, site, tmp_path):
    open_page(chromium, site)
    for name, text, begins in (
        ("good", texts()["worst-sum"], "accepted well-defined proved"),
        ("bad", texts()["worst-sum"].replace("z/4", "z/3"), "rejected at claims[1]"),
        ("composed", write(claimed("sampled response", "upper", "remove")), "accepted delta-upper proved"),
    ):
        (tmp_path / name).write_text(text, encoding="ascii")
        chromium.find_element("id", "dropped-file").send_keys(str(tmp_path / name))
        wait(chromium)
        assert chromium.find_element("id", "dropped-answer").text.startswith(begins)


@pytest.mark.parametrize(("bound", "said"), [("2.1", "accepted"), ("0.1", "not accepted by these rules"), ("one", "not accepted")])
def test_a_typed_claim_is_tried(chromium, site, bound, said):
    open_page(chromium, site)
    chromium.execute_script("document.getElementById('typed-bound').value = arguments[0]", bound)
    chromium.execute_script("document.getElementById('typed').requestSubmit()")
    wait(chromium)
    assert chromium.find_element("id", "typed-answer").text.startswith(said)


def test_the_site_page_is_accessible(chromium, site):
    open_page(chromium, site, "phone")
    chromium.execute_cdp_cmd("Page.setBypassCSP", {"enabled": True})
    assert run_axe(chromium)[0] == []
