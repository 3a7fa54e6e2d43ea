"""State hashes of the shipped configurations equal the record. Large networks run only their first cycles here, and
fabrics whose tables take long are left to record.py."""

import json

import pytest
from record import CONFIGS, EXPECTED, hashes_of

RECORDED = json.loads(EXPECTED.read_text())


def test_every_configuration_is_on_record():
    assert sorted(RECORDED) == sorted(path.name for path in CONFIGS.glob("*.toml"))


@pytest.mark.parametrize("name", sorted(RECORDED.keys() - {"sconnect-random-1024.toml"}))
def test_hashes_are_those_on_record(name):
    recorded = list(RECORDED[name].items())[: 2 if len(RECORDED[name]) == 3 else None]  # three epochs: a large network
    found = list(hashes_of(CONFIGS / name, len(recorded)).items())
    assert found == recorded, "intended change? python tests/hashes/record.py --write"
