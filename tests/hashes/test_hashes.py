"""The state hashes of all shipped configurations are those on record."""

import json

import pytest
from record import CONFIGS, EXPECTED, hashes_of

RECORDED = json.loads(EXPECTED.read_text())


def test_every_configuration_is_on_record():
    assert sorted(RECORDED) == sorted(path.name for path in CONFIGS.glob("*.toml"))


@pytest.mark.parametrize("name", sorted(RECORDED))
def test_hashes_are_those_on_record(name):
    assert hashes_of(CONFIGS / name) == RECORDED[name], "changed on purpose? python tests/hashes/record.py --write"
