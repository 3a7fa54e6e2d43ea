"""Draws docs/images/mesh.gif, a moving mesh, and docs/images/router.png, a router's panel, as the scope shows them.

    python tests/tools/scope_images.py          needs Chromium and Playwright
"""

import io
import shutil
import tempfile
from pathlib import Path

from PIL import Image
from playwright.sync_api import sync_playwright

import flitlab as fl

IMAGES = Path(__file__).resolve().parents[2] / "docs" / "images"
CYCLES = 12  # shown cycles
STEPS = 3  # pictures per cycle
MILLISECONDS = 80  # time of a picture
COLOURS = 64
ROUTER = 27
SHOWN = "show_page(places[i], text.textContent, clock)"  # in a saved page; its result is the scope


def draw(page) -> tuple[list[Image.Image], bytes]:
    """Returns the pictures of the moving network, and the panel of a router as PNG."""
    frames = []
    first = page.evaluate("() => scope.recording.last") - CYCLES
    for step in range(CYCLES * STEPS):
        page.evaluate("([cycle, part]) => { scope.cycle = cycle; scope.part = part; scope.paint(); }",
                      [first + step // STEPS, step % STEPS / STEPS])
        shot = page.locator(".scope-network").screenshot()
        picture = Image.open(io.BytesIO(shot)).convert("RGB")
        # One palette and no dithering, so that only the moving parts of a picture are stored.
        frames.append(picture.quantize(COLOURS, palette=frames[0] if frames else None, dither=Image.Dither.NONE))
    page.set_viewport_size({"width": 1400, "height": 940})
    page.evaluate("(router) => { scope.go_to(scope.recording.last); scope.select({ router }); }", ROUTER)
    page.wait_for_selector(".scope-panel h3")
    box = page.locator(".scope-panel").bounding_box()
    box["height"] = min(box["height"], 940 - box["y"])
    return frames, page.screenshot(clip=box)


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
        file = Path(folder) / "mesh.html"
        fl.Network(fl.load("vc-mesh-8x8").set("traffic.load", 0.35)).step(500).view().step(60).save(file)
        text = file.read_text(encoding="utf-8")
        file.write_text(text.replace(SHOWN, f"{SHOWN}.then((made) => {{ window.scope = made; }})"), encoding="utf-8")
        browser = playwright.chromium.launch(executable_path=shutil.which("chromium"), args=["--no-sandbox"])
        page = browser.new_page(viewport={"width": 1000, "height": 620}, reduced_motion="reduce")
        page.goto(file.as_uri())
        page.wait_for_selector(".flitlab-scope[data-detailed]")
        frames, panel = draw(page)
        browser.close()
    frames[0].save(IMAGES / "mesh.gif", save_all=True, append_images=frames[1:], duration=MILLISECONDS, loop=0)
    (IMAGES / "router.png").write_bytes(panel)
