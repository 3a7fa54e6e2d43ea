"""Terms of other simulators and of the literature: flitlab translates them, or says that it has no equivalent."""

import pytest

import flitlab as fl
from flitlab import _core, vocabulary
from flitlab.experiment import parameter_paths
from flitlab.records import parameters_of


@pytest.mark.parametrize(("given", "expected_text"), [
    ({"num_vcs": 4}, r"num_vcs = 4 is BookSim's name: in flitlab it is router\.vcs\."),
    ({"router.vc_buf_size": 8}, r"in flitlab it is router\.buffer_flits\."),
    ({"injection_rate": 0.1}, r"traffic\.load, in flits/cycle/terminal for packets"),
    ({"routing.algorithm": "xy"}, 'in flitlab it is "dimension_order"'),
    ({"routing.algorithm": "XY"}, 'in flitlab it is "dimension_order"'),
    ({"routing.algorithm": "dor_torus"}, 'in flitlab it is "dimension_order"'),
    ({"traffic.pattern": "bitcomp"}, 'in flitlab it is "bit_complement"'),
])
def test_words_of_booksim_are_translated(given, expected_text):
    with pytest.raises(fl.ConfigError, match=expected_text):
        fl.Experiment.from_dict(given)


@pytest.mark.parametrize(("given", "expected_text"), [
    ({"vcs_per_vnet": 4}, r"vcs_per_vnet = 4 is Garnet's name: in flitlab it is router\.vcs, of all message classes"),
    ({"traffic.synthetic": "x"}, r"is Garnet's name: in flitlab it is traffic\.pattern\."),
    ({"mesh_dim_x": 8}, r"is Noxim's name: in flitlab it is topology\.shape, a number of routers for each dimension"),
    ({"topology.dimension_widths": [8, 8]}, r"is SuperSim's name: in flitlab it is topology\.shape"),
    ({"servers_per_router": 2}, r"is CAMINOS's name: in flitlab it is topology\.concentration"),
    ({"traffic.pattern": "uniform_random"}, 'in flitlab it is "uniform"'),
    ({"topology.kind": "Mesh_XY"}, 'in flitlab it is "mesh"'),
    ({"router.flow_control": "vct"}, 'in flitlab it is "virtual_cut_through"'),
    ({"internal_speedup": 2}, r"is BookSim's name: in flitlab it is router\.internal_speedup"),
    ({"output_queue_depth": 2}, r"is SuperSim's name: in flitlab it is router\.output_queue_flits\."),
    ({"sim_power": 1}, r"sim_power = 1: flitlab has no model of power"),
    ({"router.congestion_sensor": "x"}, r"flitlab has no choice of congestion measures"),
    ({"topology.kind": "spidergon"}, r'topology\.kind = "spidergon": flitlab has no spidergon; a graph can be one '
                                     r".* Allowed are mesh, torus, ring"),
    ({"topology.kind": "dragonflynew"}, 'in flitlab it is "dragonfly"'),
    ({"topology.kind": "flatfly"}, 'in flitlab it is "flattened_butterfly"'),
    ({"topology.kind": "fat tree"}, 'in flitlab it is "fat_tree"'), ({"topology.kind": "FatTree"}, '"fat_tree"'),
    ({"topology.kind": "fat-tree"}, 'in flitlab it is "fat_tree"'), ({"topology.kind": "SlimFly"}, '"slim_fly"'),
    ({"routing.algorithm": "ugal_dragonflynew"}, 'in flitlab it is "ugal_l"'),
    ({"routing.algorithm": "ODD_EVEN"}, 'in flitlab it is "odd_even"'),
    ({"routing.algorithm": "general_turn"}, "flitlab has no routing by turn models"),
    ({"traffic.pattern": "stencil"}, r"flitlab has no word for stencils; .*fl\.patterns\.stencil\(SHAPE\)"),
    ({"traffic.pattern": "taper64"}, "flitlab has no pattern taper64; a function or a matrix"),
    ({"router.switch_allocator": "loa"}, "flitlab has no loa allocator"),
    ({"router.kind": "oq"}, "flitlab has no purely output-queued router"),
    ({"topology.kind": "butterfly"}, r'router.kind = "metro" has networks of stages, .* topology.shape = \[1\] is a'),
    # No known name is similar, so the message lists all.
    ({"topology.kind": "moebius"}, r'"moebius" is not known\. Allowed are'),
    ({"traffic.zest": 1}, r"unknown key traffic\.zest = 1\. `flitlab inspect`"),
])
def test_words_of_others_are_translated_or_flitlab_has_no_such_thing(given, expected_text):
    with pytest.raises(fl.ConfigError, match=expected_text) as raised:
        fl.Experiment.from_dict(given)
    assert "\n" not in str(raised.value)


def test_parameters_that_another_machine_has_are_accepted():
    assert fl.Experiment({"router.kind": "metro", "topology.kind": "fat_tree"})["topology.kind"] == "fat_tree"
    with pytest.raises(fl.ConfigError, match=r'"spidergon": flitlab has no spidergon.* Allowed are multibutterfly'):
        fl.Experiment({"router.kind": "metro", "topology.kind": "spidergon"})


def test_what_words_are_translated_into_is_there():
    meanings = [m for words in vocabulary.KEYS.values() for m in words.values()]
    paths = {m[0] for m in meanings if not isinstance(m, vocabulary.Missing)}
    assert paths | set(vocabulary.VALUES) <= parameter_paths()
    choices = {}
    for record in _core.parameters():
        choices.setdefault(record["path"], set()).update(record["choices"])
    for path, words in vocabulary.VALUES.items():
        assert {w for w in words.values() if not isinstance(w, vocabulary.Missing)} <= choices[path]
        lacks = {word for word, meaning in words.items() if isinstance(meaning, vocabulary.Missing)}
        # If flitlab has the choice, the vocabulary must translate it.
        assert not lacks & set(parameters_of("vc")[path]["choices"])
        taken = [word for word, meaning in words.items() if word in choices[path] and not isinstance(
            meaning, vocabulary.Missing)]
        assert taken == []


def test_a_word_means_one_thing():
    """Two simulators may use the same term only for the same thing."""
    meanings = {}
    for words in vocabulary.KEYS.values():
        for word, meaning in words.items():
            bare = word.replace("_", "")
            assert meanings.setdefault(bare, meaning) == meaning, word


@pytest.mark.parametrize(("words", "expected_text"), [
    (("--load", "0.3"), "--load is not an option: traffic.load is a parameter, so write --set traffic.load=0.3"),
    (("--num-vcs=4",), "--num-vcs is not an option: router.vcs is a parameter, so write --set router.vcs=4"),
    (("--lod", "0.3"), "Did you mean the parameter traffic.load, as in --set traffic.load=0.3?"),
    (("--k=8",), "topology.shape is a parameter, a number of routers for each dimension, as in [8, 8], so write"),
    (("--injection-rate", "1"), "traffic.load is a parameter, in flits/cycle/terminal for packets of any length"),
    (("--vcs-per-vnet", "4"), "router.vcs is a parameter, of all message classes together, so write --set router.vcs"),
    (("--priority=age",), "router.arbiter is a parameter, as \"highest_priority_first\", "
                         "\"oldest_first\" or \"most_hops_first\", so write"),
    (("--set", "traffic.load", "0.3"), ". Did you mean --set traffic.load=0.3?"),
    (("--thread", "1", "--nonsense"), "unrecognized arguments: --nonsense"),
])
def test_parameters_are_no_options(cli, words, expected_text):
    for order in (("vc-torus-8x8", *words), (*words, "vc-torus-8x8")):
        done = cli("run", *order)
        assert done.returncode == 2 and expected_text in done.stderr


@pytest.mark.parametrize("path", ["injection_rate", "traffic.injection_rate"])
def test_booksim_names_are_no_keys_of_results(path):
    with pytest.raises(KeyError, match=r"It is BookSim's name for traffic\.load, in flits"):
        fl.load("vc-mesh-8x8")[path]
