"""The site that .github/workflows/pages.yml publishes: documentation, web page and index, assembled by website.py."""

import re

import pytest
import wasm_page
import website
import yaml

WORKFLOWS = wasm_page.ROOT / ".github" / "workflows"
LINK = '<a href="../../page.html">Open it</a>'


def steps(workflow, job):
    return yaml.safe_load((WORKFLOWS / f"{workflow}.yml").read_text(encoding="utf-8"))["jobs"][job]["steps"]


def made(folder, link=LINK):
    """Returns a folder with the documentation's first page, and a web page."""
    first = folder / "site" / website.DOCS
    first.parent.mkdir(parents=True)
    first.write_text(f'{link} <a href="https://example.org/x">elsewhere</a> <a href="#here">here</a>', encoding="utf-8")
    (folder / "page.html").write_text("a page", encoding="utf-8")
    return folder / "site", folder / "page.html"


def test_the_index_leads_to_the_page_and_the_documentation(tmp_path):
    site, page = made(tmp_path)
    website.assemble(site, page)
    assert (site / "page.html").read_text() == "a page"
    targets = re.findall(r'(?:href="|url=)([^"]+)"', (site / "index.html").read_text())
    assert sorted(set(targets)) == [website.DOCS, "page.html"] and all((site / t).exists() for t in targets)


@pytest.mark.parametrize(("link", "message"), [("", r"docs/site/index\.html: a link to page\.html does not exist"),
                                               (LINK + '<a href="gone.html">x</a>', r"docs/site/gone\.html does not")])
def test_a_link_that_leads_nowhere_stops_it(tmp_path, link, message):
    with pytest.raises(SystemExit, match=message):
        website.assemble(*made(tmp_path, link))


def test_the_documentation_links_to_the_page():
    first = (wasm_page.ROOT / "docs/site/index.md").read_text(encoding="utf-8")
    assert '<a href="../../page.html">' in first[:900]
    readme = (wasm_page.ROOT / "README.md").read_text(encoding="utf-8").splitlines()[:15]
    assert any("[**Try it in a browser**](docs/scope.md#a-page-without-an-installation)" in line for line in readme)


def test_the_workflow_runs_the_script_and_publishes_its_folder():
    commands = [step["run"] for step in steps("pages", "build") if "run" in step]
    assert "make site" in commands
    makefile = (wasm_page.ROOT / "Makefile").read_text(encoding="utf-8")
    assert re.search(r"^site:.*\n\t@\.venv/bin/python tests/tools/website\.py$", makefile, re.M)
    (upload,) = (step for step in steps("pages", "build") if "upload-pages-artifact" in step.get("uses", ""))
    assert upload["with"]["path"] == "out/site"
    assert any("deploy-pages" in step["uses"] for step in steps("pages", "publish"))


def test_releases_contain_the_page():
    found = steps("wheels", "page")
    assert "make page" in [step.get("run") for step in found]
    assert any("gh release upload" in step.get("run", "") and "out/page.html" in step["run"]
               and step["if"] == "github.ref_type == 'tag'" for step in found)
