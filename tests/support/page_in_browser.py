"""The page with the core as WebAssembly, in a browser: opening it, its controls, and comparison of its state."""

import pytest
import wasm_page

HASH = "[data-page=hash]"


@pytest.fixture(scope="module")
def text():
    wasm_page.needs_core()
    return wasm_page.page_text()


@pytest.fixture
def opened(page, text, tmp_path):
    return open_text(page, text, tmp_path)


def open_text(page, text, folder):
    """Opens the page from disk, with this text. Its reader prefers reduced motion, so it does not play."""
    path = folder / "page.html"
    path.write_text(text, encoding="utf-8")
    page.goto(path.as_uri())
    return ready(page)


def ready(page):
    page.wait_for_selector('.flitlab-scope[data-detailed="0"]')
    page.evaluate("() => document.querySelectorAll('.page-folds details').forEach((d) => { d.open = true; })")
    return page


def do(page, action, cycle):
    page.click(f"[data-do={action}]")
    page.wait_for_selector(f'.flitlab-scope[data-detailed="{cycle}"]')


def change(page, path, value, cycle=0):
    """Sets a control of the scope, which shows another network in the same cycle."""
    control = page.locator(f'[data-setting="{path}"]')
    if control.evaluate("(e) => e.tagName") == "SELECT":
        control.select_option(value)
    else:
        control.evaluate("(e, v) => { e.value = v; e.dispatchEvent(new Event('change')); }", str(value))
    page.wait_for_selector(f'.flitlab-scope[data-detailed="{cycle}"]')


def check_hash(page, network):
    """Waits until the page shows a network's state. Another network, in the same cycle, can be shown before."""
    page.wait_for_selector(f'{HASH}[data-cycle="{network.cycle}"][data-hash="{network.state_hash}"]')


def draw_curve(page, start, stop, step):
    for name, value in (("from", start), ("to", stop), ("step", step)):
        page.fill(f"[data-curve={name}]", str(value))
    page.click("[data-do=curve]")
    page.wait_for_function("() => document.querySelector('[data-do=curve]').textContent === 'draw the curve'")
    return page.locator("tr[data-load]").evaluate_all("(rows) => rows.map((r) => ({ ...r.dataset }))")
