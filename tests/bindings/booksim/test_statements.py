"""The language of BookSim 2's files, and messages for what BookSim rejects."""

import pytest

import flitlab as fl
from flitlab.booksim.settings import Settings
from flitlab.booksim.statements import items, read


def test_statements_have_integers_numbers_and_words():
    text = ("// a comment; topology = ring;\ntopology = mesh; k=4;\r\n injection_rate = .25 ;injection_rate=1e-3;\n"
            "traffic = hotspot({{0,1},{9,1}});\npacket_size = {{1,2},{5}}; network_file = ../a-b/c.d; "
            "latency_thres = -1.0;")
    assert read(text, "a.cfg") == [
        ("topology", "mesh"), ("k", 4), ("injection_rate", 0.25), ("injection_rate", 0.001),
        ("traffic", "hotspot({{0,1},{9,1}})"), ("packet_size", "{{1,2},{5}}"), ("network_file", "../a-b/c.d"),
        ("latency_thres", -1.0)]


@pytest.mark.parametrize(("text", "message"), [
    ("k = 4", r'a\.cfg, line 1: the end of the file stands where ";" is expected'),
    ("k 4;", r'a\.cfg, line 1: 4 stands where "=" is expected'),
    ("\n\nk = 4 5;", r'a\.cfg, line 3: 5 stands where ";" is expected'),
    ("k = 4;\nnum_vc = 4;", r"a\.cfg, line 2: num_vc is not a parameter of BookSim 2\. Did you mean num_vcs\?"),
    ("k = 4.5;", r"line 1: k = 4\.5 is a number with a decimal point, and BookSim accepts only an integer here"),
    ("internal_speedup = 2;", r"internal_speedup = 2 is an integer, and BookSim accepts only a number with a decimal"),
    ("topology = 3;", r"topology = 3 is an integer, and BookSim accepts only a word here"),
    ("injection_rate = 1;", r"injection_rate = 1 is an integer, and BookSim accepts only a number .* or a word here"),
    ("Vdd = 1.0;", r"line 1: Vdd belongs in the file that tech_file names\. flitlab has no model of power"),
    ("4 = k;", r"line 1: 4 is not a parameter of BookSim 2"),
])
def test_what_booksim_rejects_is_rejected(text, message):
    with pytest.raises(fl.ConfigError, match=message):
        read(text, "a.cfg")


def test_lists_may_be_nested():
    assert items("{a,{b,c},d(1,2)}") == ["a", "{b,c}", "d(1,2)"]
    assert items("x") == ["x"] and items("") == [] and items("{}") == []


def test_later_statements_win_and_words_win_over_numbers():
    settings = Settings([("injection_rate", 0.3), ("k", 4), ("k", 5)], "a")
    assert settings["k"] == 5 and settings["n"] == 2 and settings.numbers("injection_rate", 2) == [0.3, 0.3]
    settings = Settings([("injection_rate", "{0.1,0.2}"), ("injection_rate", 0.3)], "a")
    assert settings.numbers("injection_rate", 3) == [0.1, 0.2, 0.2]
    assert settings.unused() == {} and Settings([("noq", 1), ("n", 2)], "a").unused() == {"noq": 1}
