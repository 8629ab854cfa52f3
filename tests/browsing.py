"""A headless Chromium for the tests of what people look at; they are skipped where Chromium, Selenium or axe-core is missing."""

from __future__ import annotations

import os
import shutil
from pathlib import Path
from typing import Any

import pytest

CHROMIUM, DRIVER = shutil.which("chromium"), shutil.which("chromedriver")
AXE = Path(os.environ.get("AXE_CORE", "node_modules/axe-core/axe.min.js"))
FLAGS = (
    "--headless --no-sandbox --disable-gpu --disable-quic --no-first-run --disable-background-networking --disable-component-update "
    "--disable-sync --force-device-scale-factor=1"
)
#: Width, height, and whether it is a phone.
WINDOWS = {"phone": (390, 844, True), "desktop": (1280, 900, False)}


def import_webdriver() -> Any:
    """Return Selenium's webdriver, or skip the module."""
    if CHROMIUM is None or DRIVER is None:
        pytest.skip("Chromium is not installed (Debian: chromium chromium-driver)", allow_module_level=True)
    return pytest.importorskip("selenium.webdriver", reason="Selenium is not installed (make test-browser)")


def start(webdriver: Any, folder: Path) -> Any:
    """Return a browser with its profile in a folder; the caller quits it."""
    options = webdriver.ChromeOptions()
    options.binary_location = CHROMIUM
    for flag in (*FLAGS.split(), f"--user-data-dir={folder}"):
        options.add_argument(flag)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
    driver = webdriver.Chrome(options=options, service=webdriver.ChromeService(DRIVER))
    driver.set_script_timeout(120)
    return driver


def set_window(driver: Any, window: str, *, dark: bool) -> None:
    """Be a phone or a desk, in the light or in the dark."""
    width, height, mobile = WINDOWS[window]
    size = {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": mobile}
    driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)
    scheme = {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}
    driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": "", "features": [scheme]})


def run_axe(driver: Any) -> tuple[list[tuple[str, str, list[str]]], int]:
    """Return the violations that axe-core finds on the page (rule, impact, places), and how many rules the page passes."""
    if not AXE.is_file():
        pytest.skip("axe-core is not installed (make test-browser)")
    driver.execute_script(AXE.read_text(encoding="utf-8"))
    found = driver.execute_async_script("const done = arguments[0]; axe.run(document, {resultTypes: ['violations']}).then(done)")
    shown = [(item["id"], item["impact"], [node["html"][:160] for node in item["nodes"][:3]]) for item in found["violations"]]
    return shown, len(found["passes"])
