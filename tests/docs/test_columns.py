"""bindings/flitlab/columns.py agrees with the columns that the core declares."""

from typed_columns import FILE, text


def test_the_declarations_are_those_of_the_core():
    assert FILE.read_text() == text(), "generate it: .venv/bin/python tests/tools/typed_columns.py"
