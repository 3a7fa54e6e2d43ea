"""Builds the site that .github/workflows/pages.yml publishes: the documentation, the web page, and an index.

    python tests/tools/website.py          writes out/site, with executed notebooks (`make site`)

`make page` needs Emscripten. FLITLAB_SITE_NOTEBOOKS=off omits the outputs of notebooks.
"""

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

from flitlab.textbook import save_exercises

ROOT = Path(__file__).resolve().parents[2]
PAGE = "page.html"  # the web page's place in the site
EXERCISES = "exercises.html"  # place of the textbook's exercises for a printer
DOCS = "docs/site/index.html"  # the documentation's first page
INDEX = f"""<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta http-equiv="refresh" content="0; url={DOCS}">
<title>flitlab</title>
<p><a href="{PAGE}">A network in your browser</a>, or the <a href="{DOCS}">documentation</a>.</p>
</html>
"""


def build_docs(out: Path, doctrees: Path) -> None:
    """Writes the documentation. Raises CalledProcessError, also for a warning."""
    subprocess.run([sys.executable, "-m", "sphinx", "-q", "-W", "--keep-going", "-c", "docs/site", "-d", doctrees, ".",
                    out], cwd=ROOT, check=True)


def build_page(out: Path) -> None:
    """Writes the web page. Raises CalledProcessError, for example without Emscripten."""
    subprocess.run([sys.executable, "bindings/page/build.py", out], cwd=ROOT, check=True)


def assemble(site: Path, page: Path) -> None:
    """Adds the web page, the textbook's exercises and the index to a folder with the documentation. Raises SystemExit
    if one of their links leads nowhere."""
    shutil.copyfile(page, site / PAGE)
    save_exercises(site / EXERCISES)
    (site / "index.html").write_text(INDEX, encoding="utf-8")
    if broken := list(broken_links(site)):
        sys.exit("make site: " + "\n".join(f"{file}: {target} does not exist." for file, target in broken))


def broken_links(site: Path) -> Iterator[tuple[str, str]]:
    """Yields file and target of the links of the index and the documentation's first page that lead to no file, and the
    first page if it has no link to the web page."""
    for file in ("index.html", DOCS):
        targets = re.findall(r'href="([^"#:?]+)[#?"]', (site / file).read_text(encoding="utf-8"))
        found = {Path(os.path.normpath((site / file).parent / target)) for target in targets}
        yield from ((file, str(target.relative_to(site))) for target in sorted(found) if not target.exists())
        if site / PAGE not in found:
            yield file, f"a link to {PAGE}"


if __name__ == "__main__":
    build_page(ROOT / "out" / PAGE)
    build_docs(ROOT / "out" / "site", ROOT / "build" / "site")
    assemble(ROOT / "out" / "site", ROOT / "out" / PAGE)
    print("out/site/index.html")
