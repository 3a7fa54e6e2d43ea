"""fl.published: numbers printed in the sources of published experiments, from the rows that `reproduce` judges."""

import math
import re
from functools import partial
from pathlib import Path

import pytest

import flitlab as fl
from flitlab import reproduction
from flitlab.reproduction import PUBLISHED_COLUMNS, once, row
from flitlab.sconnect.published import routers
from flitlab.t3e.published import balance, paper

PAGE = (Path(__file__).resolve().parents[2] / "docs/published.md").read_text(encoding="utf-8")
JUDGED = {name: len(re.findall(r"^\| published ", section, re.M))
          for name, section in re.findall(r"^### (.*)\n((?:(?!### ).*\n)*)", PAGE, re.M)}
# Experiments that must run for their published numbers, which takes a minute.
RUN_FOR_IT = {"sconnect.figure3"}


@pytest.fixture
def no_runs(monkeypatch):
    def refused(*_):
        raise AssertionError("it was run")

    monkeypatch.setattr(fl._core, "run", refused)


def test_a_published_curve_is_data(no_runs):
    table = fl.published("t3e.figure8")
    assert tuple(table) == PUBLISHED_COLUMNS and set(table.experiment) == {"t3e.figure8"}
    found = {(r.setting, r.quantity): (r.published, r.unit) for r in table.itertuples()}
    assert found["512 PEs", "bisection bandwidth"] == (153.6, "GB/s")
    assert found["128 PEs", "bandwidth per PE, computed"] == (600, "MB/s")
    assert len(found) == len(table) == 5 and table.source.str.startswith("The Cray T3E Network, section 11").all()


@pytest.mark.parametrize("name", sorted(name for name, judged in JUDGED.items() if judged and name not in RUN_FOR_IT))
def test_every_experiment_gives_its_numbers(name):
    table = fl.published(name)
    assert (table.kind == "published").sum() == JUDGED[name] and set(table.experiment) == {name}
    assert table.published.notna().all() and table.source.all() and table.quantity.all()


@pytest.mark.parametrize("name", ["t3e.table2", "t3e.table4", "metro.single_router", "bgl.packet"])
def test_they_are_those_of_reproduce(name):
    judged = [line for line in fl.reproduce(name) if line["printed"]]
    assert fl.published(name).to_dict("records") == [{key: line[key] for key in PUBLISHED_COLUMNS} for line in judged]


@pytest.mark.parametrize("rows", [
    lambda: paper.figure8(sizes=(8,), cycles=500), lambda: balance.table1(rings=(4,))])
def test_what_is_measured_on_demand_is_measured(rows):
    judged = rows()
    assert judged
    assert all(isinstance(line["measured"], (int, float)) and isinstance(line["reading"], str) for line in judged)
    before = reproduction._unmeasured.set(True)
    try:
        declared = rows()
    finally:
        reproduction._unmeasured.reset(before)
    assert declared == [{key: line[key] for key in declared[0]} for line in judged]


def test_a_measurement_is_made_once_and_when_a_row_needs_it(monkeypatch):
    made = []

    def experiment():
        measured = once(lambda: made.append(1) or 7.0)
        return [row("x.one", what, "a paper, 1", "alone", 7, measured, "m", lambda: 0.5, check=check)
                for what, check in (("a", False), ("b", True), ("c", "7 is a setting"))]

    monkeypatch.setattr(reproduction, "experiments", lambda: {"x.one": ("help", experiment)})
    table = fl.published("x.one")
    assert list(table.quantity) == ["a", "c"] and list(table.kind) == ["published", "check"]
    assert math.isnan(table.tolerance[0]) and not made
    assert [line["verdict"] for line in fl.reproduce("x.one")] == ["match", "holds", "holds"] and made == [1]


def test_a_tolerance_that_is_measured_is_judged():
    one, same, far = (routers.Sample([x, x + 0.01]) for x in (1.0, 1.0, 2.0))
    common = {"experiment": "x", "quantity": "y", "source": "s", "setting": "t"}
    for other, verdict in ((same, "match"), (far, "out")):
        assert row(**common, **routers.apart_on_demand(partial(lambda s: s, other), lambda: one))["verdict"] == verdict


def test_names():
    assert set(fl.published("t3e.table").experiment) == {"t3e.table1", "t3e.table2", "t3e.table4"}
    assert set(fl.published("sconnect.figure1").experiment) == {"sconnect.figure1"}
    with pytest.raises(fl.ConfigError, match=r"t3e\.figur8: no experiment .* Did you mean t3e\.figure"):
        fl.published("t3e.figur8")
    assert set(fl.published("sconnect.latency").kind) == {"check", "published"}
    with pytest.raises(fl.ConfigError, match=r"published\('bgl\.pingpong'\): the source prints no number of it"):
        fl.published("bgl.pingpong")
