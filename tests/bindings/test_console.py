"""Consoles and tools: their documentation, and their messages about bad input."""

import copy
import pickle
import re
import warnings

import numpy as np
import pytest

import flitlab as fl
from flitlab import bgl, metro, sconnect, t3e
from flitlab.console import call_tool, tools

KINDS = {
    "t3e": {"topology.shape": [2, 2, 1]},
    "bgl": {"topology.shape": [4, 4], "router.link_protocol": True},
    "metro": {},
    "sconnect": {"topology.shape": [4]},
    "vc": {"topology.shape": [4, 4]},
}
TYPES = {"router", "terminal", "number", "integer", "real", "flag", "text", "integers", "any"}


def network(kind, **settings):
    changes = {key.replace("__", "."): value for key, value in settings.items()}
    return fl.Network(fl.Experiment.from_dict({"router.kind": kind, "traffic.load": 0.0} | KINDS[kind] | changes))


def check_documented(operation):
    assert operation.help.endswith((".", "\".")) and operation.cite, operation.name
    names = [a.name for a in operation.arguments]
    assert len(set(names)) == len(names)
    for argument in operation.arguments:
        assert argument.help.endswith("."), (operation.name, argument.name)
        assert argument.type in TYPES
        assert (argument.min is None) == (argument.max is None)


@pytest.mark.parametrize(("kind", "names"), [
    ("t3e", "read_register registers write_register barrier_state barrier_operation barrier_register special_put "
            "special_get special_answers"),
    ("bgl", "read_register registers"),
    ("metro", "read_register registers write_register"),
    ("sconnect", "read_register registers write_register send_control priorities take_replies set_addresses"),
    ("vc", ""),
])
def test_operations_are_documented(kind, names):
    console = network(kind).console
    assert [o.name for o in console.operations()] == names.split()
    for operation in console.operations():
        check_documented(operation)
        assert getattr(console, operation.name).__doc__.startswith(repr(operation))
        assert operation.name in dir(console) and repr(operation) in repr(console)


@pytest.mark.parametrize(("kind", "names"), [
    ("t3e", "machine tables wiring vc_balance time_of_crossing optimise_vcs machine_vcs"),
    ("sconnect", "explore protocol_bits tables table_fault"),
    ("metro", "encoding"),
    ("vc", ""),
])
def test_tools_are_documented(kind, names):
    assert [tool.name for tool in tools(kind)] == names.split()
    for tool in tools(kind):
        check_documented(tool)


@pytest.mark.parametrize(("kind", "settings"), [
    ("t3e", {"topology__shape": [2, 2, 1]}), ("bgl", {}), ("metro", {}), ("vc", {}),
    ("sconnect", {"clock__emulated": True, "traffic__load": 0.3})])
def test_every_register_has_a_record_and_every_record_a_register(kind, settings):
    net = network(kind, **settings).step(40)
    records, seen = net.console.register_records(), set()
    assert bool(records) == ("registers" in dir(net.console))
    for node in range(len({r for r, _, _ in net.channels()}) if records else 0):
        for name, value in net.console.registers(node).items():
            [record] = [r for r in records if re.fullmatch(
                re.escape(r.name).replace(r"\#", r"(\d+|[fb]\d+|[+-][xyz])"), name)]
            seen.add(record.name)
            assert 0 <= value < 1 << record.bits, (name, value)
            assert record.help.endswith(".")
            if not record.writable and "write_register" in dir(net.console):
                with pytest.raises(fl.ConfigError, match=f"register {re.escape(name)} can be read only"):
                    net.console.write_register(node, name, value)
    assert seen == {r.name for r in records}


@pytest.mark.parametrize(("kind", "name"), [("t3e", "R_CHAN9"), ("metro", "word.f77"), ("sconnect", "damaged.9")])
def test_a_register_that_is_not_there_names_those_that_are(kind, name):
    console = network(kind).console
    for call in (lambda: console.read_register(0, name), lambda: console.write_register(0, name, 1)):
        with pytest.raises(fl.ConfigError, match=f'register "{re.escape(name)}" does not exist in this .*; it'):
            call()


@pytest.mark.parametrize("kind", ["t3e", "metro", "sconnect"])
def test_a_register_that_software_writes_takes_back_what_it_holds(kind):
    net = network(kind)
    stems = {r.name.partition("#")[0] for r in net.console.register_records() if r.writable}
    before = net.state_hash
    for name, value in net.console.registers(0).items():
        if name.rstrip("0123456789") in stems or name in stems or name.partition(".")[0] + "." in stems:
            net.console.write_register(0, name, value)
    assert net.state_hash == before


def test_an_operation_by_name_by_position_and_by_attribute():
    console = network("t3e").console
    assert console.call("read_register", node=3, name="R_LWHO") == console.read_register(3, "R_LWHO") == 3
    assert console.read_register(3, name="R_LWHO") == console.read_register(node=np.int64(3), name="R_LWHO") == 3
    assert console.write_register(1, "R_SW", (1 << 64) - 1) is None
    assert console.registers(1)["R_SW"] == (1 << 64) - 1
    assert repr(console.operations()[0]) == "read_register(node: router, name: text) -> its 64 bits"


@pytest.mark.parametrize(("call", "words"), [
    (lambda c: c.fly(), ["no operation fly", "it offers read_register, registers, "]),
    (lambda c: c.call("fly"), ["no operation fly", "it offers read_register, registers, "]),
    (lambda c: c.read_register(0), ["read_register needs name: R_ORIENT, "]),
    (lambda c: c.read_register(0, None), ["read_register needs name"]),
    (lambda c: c.registers(0, port=3), ["registers has no argument port = 3", "it takes node"]),
    (lambda c: c.special_answers(x=1), ["special_answers has no argument x = 1", "it takes none"]),
    (lambda c: c.registers(0, 1), ["registers(node: router)", "too many arguments"]),
    (lambda c: c.registers(0, node=1), ["registers(node: router)", "too many arguments"]),
    (lambda c: c.registers(4), ["router 4 does not exist", "0 to 3"]),
    (lambda c: c.registers(-1), ["router -1 does not exist", "0 to 3"]),
    (lambda c: c.registers("first"), ['registers: node = "first"', "must be a whole number"]),
    (lambda c: c.registers(1.5), ["registers: node = 1.5", "must be a whole number"]),
    (lambda c: c.registers(True), ["registers: node = true", "must be a whole number"]),
    (lambda c: c.read_register(0, 7), ["read_register: name = 7", "must be a word"]),
    (lambda c: c.write_register(0, "R_SW", 1 << 64), [f"value = {1 << 64}", "64 bits"]),
    (lambda c: c.write_register(0, "R_SW", -1 << 64), [f"value = {-1 << 64}", "64 bits"]),
    (lambda c: c.write_register(0, "R_SW", -1), ["write_register: value = -1", "not negative"]),
    (lambda c: c.write_register(0, "R_SW", object()), ["value = <object", "has a type that no argument has"]),
    (lambda c: c.barrier_state(0, 32), ["barrier_state: unit = 32 is out of range", "0 to 31"]),
    (lambda c: c.special_get(0, [0, 1.5], "R_SW"), ["deltas = [0, 1.5]", "must be a list of whole numbers"]),
    (lambda c: c.special_get(0, 7, "R_SW"), ["deltas = 7", "must be a list of whole numbers"]),
    (lambda c: c.special_get(0, [0] * 5 + [{1: 2}], "R_SW"), ["deltas[5]: 1 is not a name"]),
    (lambda c: c.special_get(0, [0] * 5, "R_SW"), ["5 deltas", "there are six"]),
    (lambda c: c.special_get(0, [0] * 5 + [128], "R_SW"), ["deltas = [0, 0, 0, 0, 0, 128]", "-127 to 127"]),
])
def test_bad_input_has_one_clear_message(call, words):
    with pytest.raises(fl.ConfigError) as error:
        call(network("t3e", special__enabled=True).console)
    assert all(word in str(error.value) for word in words), error.value
    assert "\n" not in str(error.value)


@pytest.mark.parametrize(("messages", "words"), [
    (7, "messages must be a list"),
    ([7], "control message 0: it must be a list"),
    ([["read_register"], [3]], "control message 1: operation must be a text"),
    ([["read_register", "x"]], "control message 0: number must be a whole number"),
    ([["read_register", 0, 0, 0, 5]], "hops must be a list of ports"),
    ([{"operation": "read_register", "hop": 1}], "control message 0: hop must be one of operation, number, "),
    ([["read_register", 0, 0, None, [], 2, 0, 0]], "of up to seven parts"),
    ([{"operation": "fly"}], 'there is no operation "fly"'),
])
def test_bad_control_messages(messages, words):
    net = network("sconnect", routing__tables="none")
    with pytest.raises(fl.ConfigError, match=words):
        net.console.send_control(0, messages)


def test_control_messages_as_lists_and_as_maps():
    console = (net := network("sconnect")).console
    asked = [["read_register", 2, 0, None, [0], 2, 9], {"operation": "read_register", "number": 2, "tag": 8}]
    assert console.send_control(0, asked) == 2
    net.step(20)
    assert sorted(reply[0] for reply in console.take_replies(0)) == [8, 9]


def test_a_machine_without_a_console_is_an_error():
    net = network("vc")
    assert net.console.operations() == [] and repr(net.console) == "<no operations>"
    for call in (lambda: net.console.read_register(0, "R_SW"), lambda: net.console.call("read_register")):
        with pytest.raises(fl.ConfigError, match=r'read_register: router\.kind = "vc" has no console.*no registers'):
            call()
    with pytest.raises(AttributeError, match=r"no attribute 'read_register'.*it has none"):
        net.read_register(0, "R_SW")


def test_former_methods_of_networks_name_their_new_home():
    net = network("sconnect")
    with pytest.raises(AttributeError, match=r"send_controls.*send_control, priorities.*net\.console.*flitlab\.scon"):
        net.send_controls(0, [])
    assert not hasattr(net, "_nothing") and not hasattr(net.console, "__deepcopy__")
    with pytest.raises((TypeError, AttributeError)):
        pickle.dumps(net)
    with pytest.raises((TypeError, AttributeError)):
        copy.deepcopy(net)


MACHINES = {"t3e": t3e.Machine, "bgl": bgl.Links, "metro": metro.Scan, "sconnect": sconnect.Fabric}


@pytest.mark.parametrize("kind", KINDS)
def test_machines_need_a_network_of_their_kind(kind):
    net = network(kind)
    for mine, machine in MACHINES.items():
        if mine == kind:
            name = next(iter(machine(net).registers(0)))
            assert machine(net).read_register(0, name) == net.console.registers(0)[name]
            assert machine(net).net is net and machine.__name__ in repr(machine(net))
        else:
            with pytest.raises(fl.ConfigError, match=rf'router\.kind = "{kind}" is no .*: set it to "{mine}"'):
                machine(net)


def test_warnings_of_operations_point_to_the_caller():
    net = network("t3e", topology__shape=[4, 8, 1])
    for call in (lambda: net.console.write_register(24, "R_VCSEL1", 0b10),
                 lambda: net.console.call("write_register", node=24, name="R_VCSEL1", value=0b10),
                 lambda: t3e.Machine(net).write_register(24, "R_VCSEL1", 0b10)):
        with pytest.warns(UserWarning, match="SELECT bit 1 sends packets through the dateline") as seen:
            call()
        assert [warning.filename for warning in seen] == [__file__]
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            net.console.write_register(24, "R_VCSEL1", 0)


@pytest.mark.parametrize(("call", "words"), [
    (lambda: tools("vcc"), ['router.kind = "vcc" is not known', "vc, t3e, bgl"]),
    (lambda: call_tool("vc", "tables"), ["tables", 'router.kind = "vc" has no tools']),
    (lambda: call_tool("t3e", "fly"), ['fly is no tool of router.kind = "t3e"', "machine, tables, wiring"]),
    (lambda: call_tool("t3e", "wiring"), ["wiring needs an experiment", '"t3e"']),
    (lambda: call_tool("t3e", "wiring", network("vc").experiment), ['it was given one with "vc"']),
    (lambda: call_tool("t3e", "time_of_crossing", ring=8), ["time_of_crossing needs limited"]),
    (lambda: call_tool("t3e", "time_of_crossing", ring=1 << 32, limited=True), ["ring = 4294967296 is out of range"]),
    (lambda: call_tool("t3e", "vc_balance", table=[[0, 2] * 4] * 8, half_way=1, last=False, subring=8), ["not 2"]),
    (lambda: call_tool("t3e", "vc_balance", table=[7] * 8, half_way=1, last=False, subring=8), ["a list of lists"]),
    (lambda: call_tool("t3e", "optimise_vcs", ring=8, limited=True, goals=[(8,)], seed=1, restarts=1, steps=1),
     ["goals are a list"]),
    (lambda: call_tool("sconnect", "tables", tics=2, links=[(0, 0, 1)], hosts=[]),
     ["links", "4 non-negative whole numbers"]),
    (lambda: call_tool("sconnect", "tables", tics=2, links=[], hosts=[(0, 4, -1)]), ["hosts", "non-negative"]),
    (lambda: sconnect.explore_protocol(singles=(1, 1, 1)), ["singles: give two numbers"]),
    (lambda: sconnect.explore_protocol(hits=(True,)), ["hits: give two times true or false"]),
    (lambda: sconnect.explore_protocol(defect="takes_viod"), ['"takes_viod" is unknown', "takes_void"]),
])
def test_bad_input_of_tools(call, words):
    with pytest.raises(fl.ConfigError) as error:
        call()
    assert all(word in str(error.value) for word in words), error.value
