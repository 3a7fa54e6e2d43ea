"""Parameter records of a router kind; several models have parameters with the same path."""

import pytest

from flitlab import _core
from flitlab.cli import main
from flitlab.experiment import Experiment
from flitlab.records import parameters_of, totals_of

KINDS = [m["kind"] for m in _core.models()]


@pytest.mark.parametrize("model", _core.models(), ids=KINDS)
def test_a_models_own_records_come_first(model):
    """Help, unit and default belong to this model, even if others use the same path."""
    records = parameters_of(model["kind"])
    for own in model["parameters"]:
        assert records[own["path"]]["help"] == own["help"]
        assert records[own["path"]]["unit"] == own["unit"]
    assert set(Experiment.from_dict({"router.kind": model["kind"]}).flat()) <= set(records)


def test_some_paths_have_several_records():
    """Some paths have a different record in each model; otherwise the test above could not fail."""
    helps = {}
    for model in _core.models():
        for p in model["parameters"]:
            helps.setdefault(p["path"], set()).add(p["help"])
    assert len([path for path, texts in helps.items() if len(texts) > 1]) >= 5


@pytest.mark.parametrize("kind", KINDS)
def test_inspect_shows_parameters_derived_numbers_and_totals(kind, tmp_path, capsys):
    """The output has the texts and units of this router kind."""
    path = tmp_path / "one.toml"
    path.write_text(f'[router]\nkind = "{kind}"\n')
    assert main(["inspect", str(path)]) == 0
    text = capsys.readouterr().out
    own = {p["path"]: p for p in next(m for m in _core.models() if m["kind"] == kind)["parameters"]}
    for line in text.splitlines():
        if line and line.split()[0] in own:
            assert own[line.split()[0]]["help"] in line
    for total in totals_of(kind):
        assert any(line.startswith(total["name"]) and total["help"] in line for line in text.splitlines())
    assert "routers" in text


def test_a_kind_that_there_is_not():
    """A table kept by another version may contain such a kind."""
    with pytest.raises(_core.ConfigError, match=r"router\.kind = 'tee3': there is no such kind; kinds are .*t3e"):
        parameters_of("tee3")
