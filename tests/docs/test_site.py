"""The documentation site builds without a warning: links between pages work, no page is left out, and every name of the
Python interface has an entry. Notebooks are included as committed; tests/notebooks runs them."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
import website
import yaml

import flitlab as fl

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    folder = tmp_path_factory.mktemp("site")
    done = subprocess.run([sys.executable, "-m", "sphinx", "-q", "-W", "--keep-going", "-c", "docs/site", "-d",
                           folder / "doctrees", ".", folder / "html"], cwd=ROOT, capture_output=True, text=True,
                          env=os.environ | {"FLITLAB_SITE_NOTEBOOKS": "off"})
    assert done.returncode == 0, done.stderr
    return folder / "html"


def test_every_page_and_notebook_is_in_the_contents(site):
    index = (site / "docs/site/index.html").read_text(encoding="utf-8")
    linked = set(re.findall(r'class="reference internal" href="([^"#]*)', index))
    pages = [*(ROOT / "docs").glob("*.md"), *(ROOT / "docs/architecture").glob("*.md"),
             *(ROOT / "notebooks").glob("*.ipynb")]
    assert {os.path.relpath(p.with_suffix(".html"), ROOT / "docs/site") for p in pages} <= linked


def test_the_web_page_is_added_where_the_first_page_links_to_it(site, tmp_path):
    (tmp_path / "page.html").write_text("a page", encoding="utf-8")
    website.assemble(site, tmp_path / "page.html")  # stops at a link that leads nowhere
    assert (site / "page.html").read_text() == "a page"


def test_every_name_is_on_the_page_of_the_interface(site):
    text = (site / "docs/site/api.html").read_text(encoding="utf-8")
    named = set(re.findall(r'id="flitlab\.([\w.]+)"', text))
    assert set(fl.__all__) - {"__version__", "Result"} <= named and "result.Result" in named
    assert {"Experiment.with_pattern", "Curve.read", "Network.step", "channels.Channels.plot"} <= named


def test_the_citation_is_of_this_version():
    cited = yaml.safe_load((ROOT / "CITATION.cff").read_text(encoding="utf-8"))
    assert cited["version"] == fl.__version__ and cited["license"] == "Apache-2.0" and cited["authors"]


def test_issue_templates_have_required_fields():
    forms = [p for p in (ROOT / ".github/ISSUE_TEMPLATE").glob("*.yml") if p.stem != "config"]
    assert len(forms) == 2
    for form in forms:
        parsed = yaml.safe_load(form.read_text(encoding="utf-8"))
        assert parsed["name"] and parsed["description"]
        assert len({part["id"] for part in parsed["body"]}) == len(parsed["body"])
        assert any(part.get("validations", {}).get("required") for part in parsed["body"])
