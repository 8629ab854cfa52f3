"""Reports in a real headless Chromium: what it loads, says in its console, lays out, prints, and how accessible it is.

``make test-browser`` installs what is needed and runs these tests; without Chromium, Selenium or axe-core they are skipped.
"""

from __future__ import annotations

import base64
import json

import pytest

from accountant.cli.main import invoke
from tests.browsing import WINDOWS, import_webdriver, run_axe, set_window, start
from tests.report.conftest import HOSTILE, LLOYD

pytestmark = pytest.mark.browser

REPORTS = ("lloyd", "laplace", "hostile", "infeasible")

webdriver = import_webdriver()


@pytest.fixture(scope="module")
def pages(tmp_path_factory):
    """Reports on disk: name → path."""
    folder = tmp_path_factory.mktemp("reports")
    (folder / "lloyd.toml").write_text(LLOYD)
    (folder / "hostile.toml").write_text(HOSTILE)
    laplace = "profiles.mechanisms.laplace_sum:default"
    runs = {
        "lloyd": (folder / "lloyd.toml", "-e", 20),
        "hostile": (folder / "hostile.toml", "-e", "0.3"),
        "laplace": (laplace, "-e", 8, "--audit-samples", 2000, "--seed", 1),
        "infeasible": (laplace, "-e", 3),
    }
    for name, arguments in runs.items():
        assert invoke(["report", *map(str, arguments), "--out", str(folder / f"{name}.html")]) == (1 if name == "infeasible" else 0)
    return {name: folder / f"{name}.html" for name in runs}


@pytest.fixture(scope="module")
def chromium(tmp_path_factory):
    driver = start(webdriver, tmp_path_factory.mktemp("profile"))
    yield driver
    driver.quit()


@pytest.fixture
def show(chromium, pages):
    """Open a report in a window, with all its parts open."""

    def run(name, window="desktop", *, dark=False):
        set_window(chromium, window, dark=dark)
        chromium.get(pages[name].as_uri())
        chromium.execute_script("document.querySelectorAll('details').forEach(part => { part.open = true })")
        return chromium

    return run


@pytest.mark.parametrize("name", REPORTS)
def test_nothing_is_loaded_and_nothing_runs(chromium, show, name):
    chromium.get_log("browser")
    chromium.get_log("performance")
    driver = show(name)
    asked = [json.loads(entry["message"])["message"] for entry in driver.get_log("performance")]
    urls = [event["params"]["request"]["url"] for event in asked if event["method"] == "Network.requestWillBeSent"]
    asked_for = [url for url in urls if url != "data:,"]  # the empty page that a new browser shows may come late
    assert len(asked_for) == 1
    assert asked_for[0].startswith("file:")
    assert driver.get_log("browser") == []
    assert driver.execute_script("return window.pwned") is None
    assert driver.execute_script("return document.querySelectorAll('script, img, iframe, object, link').length") == 0


@pytest.mark.parametrize("window", WINDOWS)
@pytest.mark.parametrize("name", REPORTS)
def test_nothing_is_wider_than_the_window(show, name, window):
    driver = show(name, window)
    wide, inner = driver.execute_script("return [document.documentElement.scrollWidth, window.innerWidth]")
    assert wide <= inner == WINDOWS[window][0]
    outside = """
        const width = document.documentElement.clientWidth
        return [...document.querySelectorAll('main *')].filter(e => e.getBoundingClientRect().right > width + 1
            && !e.closest('.scroll, .wide, pre, svg')).map(e => e.outerHTML.slice(0, 120))"""
    assert driver.execute_script(outside) == []


def test_small_print_is_readable_on_a_phone(show):
    driver = show("lloyd", "phone")
    heights = (
        "return [...document.querySelectorAll('svg text, p, dd, td, li')].map(e => e.getBoundingClientRect().height).filter(h => h > 0)"
    )
    assert min(driver.execute_script(heights)) >= 9.5


@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
@pytest.mark.parametrize(("name", "window"), [("lloyd", "desktop"), ("laplace", "phone"), ("hostile", "phone"), ("infeasible", "desktop")])
def test_axe_finds_nothing(show, name, window, dark):
    driver = show(name, window, dark=dark)
    assert driver.execute_script("return matchMedia('(prefers-color-scheme: dark)').matches") is dark
    violations, passed = run_axe(driver)
    assert violations == []
    assert passed > 15


@pytest.mark.parametrize("window", WINDOWS)
@pytest.mark.parametrize("name", ["lloyd", "laplace", "infeasible"])
def test_the_first_screen_says_the_verdicts(show, name, window):
    driver = show(name, window)
    below = "return ['.headline', '.glance'].map(s => document.querySelector(s).getBoundingClientRect().bottom)"
    assert max(driver.execute_script(below)) <= WINDOWS[window][1]


def test_plots_can_be_read_in_forced_colours(show):
    driver = show("lloyd")
    colour = "return [...arguments].map(s => getComputedStyle(document.querySelector(s))).map(s => [s.stroke, s.fill])"
    places = ("svg .line.s0", "svg text", ".line.s1")
    before = driver.execute_script(colour, *places)
    driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": "", "features": [{"name": "forced-colors", "value": "active"}]})
    (line, _), (_, text), (other, _) = driver.execute_script(colour, *places)
    assert line == text == "rgb(0, 0, 0)"
    assert other != line
    assert before[0][0] != line


def test_it_prints(show):
    driver = show("lloyd")
    driver.execute_script("document.querySelectorAll('details').forEach(part => { part.open = false })")
    driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": "print", "features": []})
    style = "const e = document.querySelector(arguments[0]); return [getComputedStyle(e).display, e.getBoundingClientRect().height]"
    assert driver.execute_script(style, ".skip")[0] == "none"
    assert driver.execute_script(style, ".steps")[1] > 0
    assert driver.execute_script("return getComputedStyle(document.body).backgroundColor") == "rgb(255, 255, 255)"
    printed = base64.b64decode(driver.execute_cdp_cmd("Page.printToPDF", {"preferCSSPageSize": True})["data"])
    assert printed.startswith(b"%PDF-")
    assert len(printed) > 50_000


def test_the_keyboard_comes_first_to_the_result(show):
    driver = show("lloyd")
    driver.switch_to.active_element.send_keys(webdriver.Keys.TAB)
    focused = driver.switch_to.active_element
    assert focused.text == "Skip to the result"
    assert focused.rect["x"] >= 0
    assert focused.value_of_css_property("outline-style") == "solid"
    focused.send_keys(webdriver.Keys.ENTER)
    assert driver.execute_script("return document.activeElement.id") == "main"


def test_formulas_are_typeset(show):
    driver = show("lloyd")
    taller = "const f = document.querySelector('.display mfrac'); return [getComputedStyle(f).display, f.getBoundingClientRect().height]"
    display, height = driver.execute_script(taller)
    assert display == "block math"
    assert height > 30


def test_a_certificate_can_be_downloaded(show, tmp_path):
    driver = show("lloyd")
    driver.execute_cdp_cmd("Browser.setDownloadBehavior", {"behavior": "allow", "downloadPath": str(tmp_path)})
    driver.find_element("css selector", "a[download$='bounds.json']").click()
    file = tmp_path / "weighted-dp-lloyd-bounds.json"
    driver.execute_async_script("setTimeout(arguments[0], 1500)")
    assert invoke(["check", str(file)]) == 0
