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
#: The page of search results has its heading only once a search has run.
NOT_YET = {"search.html": {"page-has-heading-one"}}


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
    assert [found for found in violations if found[0] not in NOT_YET.get(page, ())] == []
    assert passed > 15
    broken = """return [...document.querySelectorAll('article img')].filter(e => !e.alt || (e.checkVisibility() && !e.naturalWidth))
        .map(e => e.outerHTML)"""
    assert chromium.execute_script(broken) == []
    asked = [json.loads(entry["message"])["message"] for entry in chromium.get_log("performance")]
    urls = [event["params"]["request"]["url"] for event in asked if event["method"] == "Network.requestWillBeSent"]
    assert [url for url in urls if url.startswith(("http:", "https:"))] == []


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
