"""Playing speed of the scope in a browser: frames per second that it draws, and cycles per second that it shows, for a
mesh of n x n routers with a kernel. The kernel shares the machine with the browser and communicates by its debugger.

    python tests/perf/frames_shown.py [--sides 8 32] [--load 0.1] [--seconds 4]
"""

import argparse
import sys
import time
from pathlib import Path

from playwright.sync_api import sync_playwright

import flitlab as fl

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "support"))
from scope_pages import Live

COUNT = """() => {
    window.drawn = 0;
    const drawing = CanvasRenderingContext2D.prototype, clear = drawing.clearRect;
    drawing.clearRect = function (...box) { ++window.drawn; return clear.apply(this, box); }; }"""
SPEED = "(e, v) => { e.value = v; e.dispatchEvent(new Event('input')); }"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sides", nargs="+", type=int, default=[8, 32])
    parser.add_argument("--load", type=float, default=0.1)
    parser.add_argument("--seconds", type=float, default=4)
    parser.add_argument("--chromium", default="/usr/bin/chromium")
    args = parser.parse_args()
    print("| routers | requested, cycles/s | frames/s | cycles/s |\n|---|---|---|---|")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=args.chromium, args=["--no-sandbox"])
        for side in args.sides:
            page = browser.new_page(viewport={"width": 1280, "height": 900})
            network = fl.Network({"topology.kind": "mesh", "topology.shape": [side, side], "traffic.load": args.load})
            live = Live(page, network.step(300).view())
            page.evaluate(COUNT)
            for place, asked in ((3, 5), (5, 15), (8, 120)):  # positions of the slider, and requested speeds
                page.locator("[data-do=speed]").evaluate(SPEED, str(place))
                before, drawn = int(live.root.get_attribute("data-cycle")), page.evaluate("window.drawn")
                live.do("play")
                started = time.monotonic()
                page.wait_for_timeout(1000 * args.seconds)
                frames, cycle = page.evaluate("window.drawn"), int(live.root.get_attribute("data-cycle"))
                seconds = time.monotonic() - started
                live.do("play")
                print(f"| {side * side} | {asked} | {(frames - drawn) / seconds:.0f} "
                      f"| {(cycle - before) / seconds:.1f} |", flush=True)
            page.close()
        browser.close()


if __name__ == "__main__":
    main()
