"""A browser, and pages in it that show the scope."""

import os
import shutil

import pytest

BROWSERS = ("chromium", "chromium-browser", "google-chrome")


@pytest.fixture(scope="session")
def browser():
    """Returns the system's Chromium, driven by Playwright. .ci/run installs it and sets FLITLAB_BROWSER=required, so
    that its absence fails the tests."""
    found = next(filter(None, map(shutil.which, BROWSERS)), None)
    if found is None:
        assert os.environ.get("FLITLAB_BROWSER") != "required", "no browser found, although .ci/run installs one"
        pytest.skip(f"none of {', '.join(BROWSERS)} is on PATH (apt-get install chromium)")
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=found, args=["--no-sandbox"])
        yield browser
        browser.close()


@pytest.fixture
def page(browser):
    """Returns a page that fails the test on any error or on loading from the network. Its reader prefers reduced
    motion, so that a recording does not play by itself when it opens."""
    page = browser.new_page(viewport={"width": 1280, "height": 900}, reduced_motion="reduce")
    wrong = []
    page.on("pageerror", lambda error: wrong.append(str(error)))
    page.on("request", lambda r: r.url.startswith(("file:", "about:", "blob:", "data:")) or wrong.append(r.url))
    page.set_default_timeout(600_000)  # the machine may be busy
    yield page
    page.close()
    assert not wrong, wrong
