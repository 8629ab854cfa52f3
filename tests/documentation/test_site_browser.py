"""Every page of the site in a real headless Chromium, on a phone in the light and on a desk in the dark: ``make test-site``.

The site is where the variable SITE says; without it, or without a browser, the tests are skipped.
"""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from tests.browsing import import_webdriver, run_axe, set_window, start

pytestmark = pytest.mark.browser

if "SITE" not in os.environ:
    pytest.skip("the variable SITE names no built site (make test-site)", allow_module_level=True)
webdriver = import_webdriver()
WebDriverWait = pytest.importorskip("selenium.webdriver.support.wait").WebDriverWait
SITE = Path(os.environ["SITE"]).resolve()
PAGES = sorted(page.relative_to(SITE).as_posix() for page in SITE.rglob("*.html") if page.name != "check.html")  # which tests/report opens


@pytest.fixture(scope="module")
def chromium(tmp_path_factory):
    driver = start(webdriver, tmp_path_factory.mktemp("profile"))
    yield driver
    driver.quit()


def test_there_are_pages():
    assert len(PAGES) > 60
    assert "index.html" in PAGES


@pytest.mark.parametrize(("window", "dark"), [("phone", False), ("desktop", True)], ids=["phone-light", "desktop-dark"])
@pytest.mark.parametrize("page", PAGES)
def test_a_page(chromium, page, window, dark):
    set_window(chromium, window, dark=dark)
    chromium.get_log("performance")
    chromium.get((SITE / page).as_uri())
    wide, inner = chromium.execute_script("return [document.documentElement.scrollWidth, window.innerWidth]")
    assert wide <= inner
    violations, passed = run_axe(chromium)
    assert violations == []
    assert passed > 15
    broken = """return [...document.querySelectorAll('article img')].filter(e => !e.alt || (e.checkVisibility() && !e.naturalWidth))
        .map(e => e.outerHTML)"""
    assert chromium.execute_script(broken) == []
    asked = [json.loads(entry["message"])["message"] for entry in chromium.get_log("performance")]
    urls = [event["params"]["request"]["url"] for event in asked if event["method"] == "Network.requestWillBeSent"]
    assert [url for url in urls if url.startswith(("http:", "https:"))] == []


@pytest.mark.parametrize(
    ("typed", "page"),
    [("heavy hitters", "heavy-hitters.html"), ("ledger", "ledger.html"), ("derive_epsilon", "_generated/reference-accountant.html")],
)
@pytest.mark.parametrize(("window", "dark"), [("phone", False), ("desktop", True)], ids=["phone-light", "desktop-dark"])
def test_what_is_typed_into_the_search_box_leads_to_its_page(chromium, typed, page, window, dark):
    set_window(chromium, window, dark=dark)
    chromium.get((SITE / "index.html").as_uri())
    wait = WebDriverWait(chromium, 20)
    if window == "phone":  # the box is in the drawer there
        chromium.find_element("css selector", "label.nav-overlay-icon").click()
        wait.until(lambda driver: driver.find_element("css selector", "input.sidebar-search").rect["x"] >= 0)
    box = wait.until(lambda driver: driver.find_element("css selector", "input.sidebar-search"))
    box.send_keys(typed)
    box.submit()
    results = wait.until(lambda driver: driver.find_elements("css selector", "#search-results li a"))
    wait.until(lambda driver: "found" in driver.find_element("css selector", "#search-results").text)
    links = [link.get_attribute("href") for link in chromium.find_elements("css selector", "#search-results li a")]
    assert results
    assert any(page in link.partition("?")[0].partition("#")[0] for link in links[:10]), links[:10]
    violations, _ = run_axe(chromium)
    assert violations == []
    wide, inner = chromium.execute_script("return [document.documentElement.scrollWidth, window.innerWidth]")
    assert wide <= inner
    first = next(link for link in links if page in link)
    chromium.get(first)
    assert chromium.find_element("css selector", "h1").text


def test_what_is_nowhere_is_said_to_be_nowhere(chromium):
    set_window(chromium, "desktop", dark=False)
    chromium.get((SITE / "search.html").as_uri() + "?q=xylophone")
    said = WebDriverWait(chromium, 20).until(lambda d: "did not match" in d.find_element("css selector", "#search-results").text)
    assert said
    assert chromium.find_elements("css selector", "#search-results li a") == []


def test_a_plot_is_drawn_for_the_light_and_for_the_dark(chromium):
    seen = []
    for dark in (False, True):
        set_window(chromium, "phone", dark=dark)
        chromium.get((SITE / "concepts.html").as_uri())
        shown = "return [...document.querySelectorAll('img.plot')].filter(e => e.checkVisibility()).map(e => [e.src, e.clientWidth])"
        seen.append(WebDriverWait(chromium, 10).until(lambda driver, shown=shown: driver.execute_script(shown)))
    light, dark_ones = seen
    assert len(light) == len(dark_ones) == 3
    assert all("-light" in source for source, _ in light)
    assert all("-dark" in source for source, _ in dark_ones)
    assert min(width for _, width in light) > 330
