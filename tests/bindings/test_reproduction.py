"""The final table of `flitlab reproduce`, and the page that it prints with --markdown."""

import re
import signal
import subprocess
import sys
import time
from functools import partial
from pathlib import Path

import pytest

import flitlab
from flitlab import reproduce_command, reproduction
from flitlab.reproduce_command import table
from flitlab.reproduction import Throughput, by_size, row, trend
from flitlab.reproduction_page import cited, grouped, page, with_ideal


def measured(published, value, experiment="x.one", reading="as read", **settings):
    return row(experiment, "speed", "a paper", "alone", published, value, "m/s", 0.5, reading=reading, **settings)


def test_kinds_and_their_verdicts():
    def reported(*values, **settings):
        line = measured(*values, **settings)
        return line["kind"], line["verdict"]

    assert reported(2, 2.5) == ("published", "match") and reported(2, 3) == ("published", "out")
    assert reported(2, 3, higher_is_better=True) == ("published", "better")
    assert reported(2, 2.5, check=True) == ("check", "holds") and reported(2, 3, check=True) == ("check", "broken")
    assert reported(2, 1, lower_is_better=True, check=True) == ("check", "holds")
    assert reported(None, 7) == reported(None, 7, check=True) == ("context", "context")


def test_a_number_that_holds_by_construction_is_a_check_with_its_reason():
    line = measured(2, 2, check="2 is a setting")
    assert (line["kind"], line["verdict"], line["printed"]) == ("check", "holds", True)
    assert line["reading"] == "as read; holds by construction: 2 is a setting"
    assert measured(2, 2)["printed"] and not measured(2, 2, check=True)["printed"]
    assert not measured(None, 2, check="2 is a setting")["printed"]
    assert measured(None, 2, check="2 is a setting")["reading"] == "as read"


def test_a_row_that_is_out_is_explained_and_others_are_not():
    assert measured(2, 3, why=lambda: "because")["why"] == "because"
    assert measured(2, 2, why="because")["why"] == measured(2, 3, why="because", check=True)["why"] == ""


@pytest.mark.parametrize(("values", "sentence"), [
    ({"2": 1.0, "4": 2.0, "8": 3.0},
     "by size: 2 1, 4 2, 8 3; it rises with size, so 32 of the source lies above the last value"),
    ({"2": 3.0, "4": 2.0, "8": 1.0},
     "by size: 2 3, 4 2, 8 1; it falls with size, so 32 of the source lies below the last value"),
    ({"2": 3.0, "4": 1.0, "8": 2.0}, "by size: 2 3, 4 1, 8 2; it has no clear trend, so 32 of the source may lie on "
                                     "either side of the last value"),
    ({"2": 3.0, "4": 3.001, "8": 3.002}, "by size: 2 3, 4 3.001, 8 3.002; it has no clear trend, so 32 of the source "
                                         "may lie on either side of the last value"),
    ({"32": 3.0}, "by size: 32 3")])
def test_the_trend_of_three_sizes(values, sentence):
    assert trend(values, "32") == sentence


def test_rows_by_size_judge_the_largest_and_measure_each_once():
    calls = []

    def of(size):
        return lambda: calls.append(size) or float(size)

    lines = by_size("x.one", "speed", "a paper", "{} nodes".format, 8, {s: of(s) for s in ("2", "4", "8")}, "m/s", 0.5,
                    "32", "as read")
    assert [(line["setting"], line["kind"], line["measured"]) for line in lines] == [
        ("8 nodes", "published", 8), ("2 nodes", "context", 2), ("4 nodes", "context", 4)]
    assert lines[0]["reading"] == "as read; " + trend({"2": 2.0, "4": 4.0, "8": 8.0}, "32")
    assert sorted(calls) == ["2", "4", "8"]


def test_a_throughput_has_its_ideal_beside_it():
    found = measured(None, Throughput(0.4434, 0.5))
    assert found["ideal"] == 0.5 and with_ideal(found) == "0.4434 (ideal 0.5)"
    assert measured(None, 0.4434)["ideal"] is None and with_ideal(measured(None, 0.4434)) == "0.4434"
    assert "measured 0.4434 (ideal 0.5) m/s" in next(reproduce_command.texts([found]))
    judged = "\n".join(page({"x.one": ([measured(0.4, Throughput(0.4434, 0.5))], 1)}, "command", "1"))
    assert "| published | alone | speed | 0.4 | 0.4434 (ideal 0.5) | m/s | 0.5 | match |" in judged


def test_a_line_for_each_experiment_their_sum_and_what_is_out():
    one = [measured(2, 2.5), measured(2, 3), measured(None, 7), measured(2, 2, check=True)]
    two = [measured(2, 3, "x.two", higher_is_better=True), measured(2, 1, "x.two", higher_is_better=True),
           measured(2, 9, "x.two", check=True)]
    lines = list(table({"x.one": (one, 1.4), "x.two": (two, 2.2)}))
    assert [line.split() for line in lines[:4]] == [
        ["experiment", "match", "better", "out", "holds", "broken", "context", "seconds"],
        ["x.one", "1", "1", "1", "1", "1"],
        ["x.two", "1", "1", "1", "2"],
        ["all", "1", "1", "2", "1", "1", "1", "4"],
    ]
    assert len({len(line) for line in lines[:4]}) == 1
    assert lines[4] == ""
    assert [line.split()[:2] for line in lines[5:]] == [["out", "x.one"], ["out", "x.two"], ["broken", "x.two"]]


def test_nothing_out_is_not_listed():
    assert len(list(table({"x.one": ([measured(2, 2)], 1)}))) == 3


def test_several_experiments_end_with_one_table(monkeypatch, capsys):
    known = {"x.one": ("help", lambda: [measured(2, 2)]), "x.two": ("help", lambda: [measured(2, 9, "x.two")])}
    monkeypatch.setattr(reproduction, "experiments", lambda: known)
    assert reproduce_command.main([], False, False, False, "out") == 1
    shown = capsys.readouterr().out.splitlines()
    assert [line.split()[0] for line in shown if line.startswith(("experiment", "x.", "all"))] == [
        "experiment", "x.one", "x.two", "all"]
    assert shown[-1] == "1 match, 1 out"
    assert reproduce_command.main(["x.one"], False, False, False, "out") == 0
    assert "experiment " not in capsys.readouterr().out


def test_an_experiment_that_fails_loses_no_rows_of_the_others(monkeypatch, capsys):
    def fails():
        raise TypeError("must be real number, not NoneType")

    rows = [row(experiment="x.two", source="s", setting="", quantity="q", published=None, measured=4.5, unit="",
                tolerance=0)]
    monkeypatch.setattr(reproduction, "experiments",
                        lambda: {"x.one": ("help", fails), "x.two": ("help", lambda: rows)})
    with pytest.raises(TypeError, match="must be real number"):
        reproduce_command.main([], False, False, False, "out", jobs=1)
    printed = capsys.readouterr()
    assert "x.one                      failed: must be real number, not NoneType" in printed.err
    assert "measured 4.5" in printed.out


def test_the_page_lists_papers_of_which_only_the_abstract_was_read():
    def of(source):
        return row("x.one", "speed", source, "alone", None, 1, "m/s", 0)

    lines = list(page({"x.one": ([of("B, abstract; A, abstract"), of("B, abstract"), of("C, table 1")], 1)}, "c", "1"))
    assert [line for line in lines if line.startswith("- ")][:2] == ["- A: abstract", "- B: abstract"]
    assert not any("C" in line for line in lines if line.endswith(": abstract"))


def test_the_page_counts_names_what_is_out_and_shows_every_judged_row():
    one = [measured(2, 2.5), measured(2, 3, reading="a | b"), measured(None, 7)]
    done = {"x.one": (one, 90.4), "x.two": ([measured(None, 1, "x.two")], 60.2)}
    lines = list(page(done, "flitlab reproduce x --markdown", "1.2.3", made="2026-01-31"))
    text = "\n".join(lines)
    assert lines[0] == "# Published experiments"
    assert lines[2].startswith("`flitlab reproduce x --markdown` of flitlab 1.2.3 made this page on 2026-01-31. ")
    assert "in their default sizes. It took 3 minutes." in lines[2]
    assert lines[4:9] == [
        "| experiment | match | better | out | holds | broken | context | seconds |",
        "|---|---:|---:|---:|---:|---:|---:|---:|",
        "| x.one | 1 |  | 1 |  |  | 1 | 90 |",
        "| x.two |  |  |  |  |  | 1 | 60 |",
        "| all | 1 |  | 1 |  |  | 2 | 151 |",
    ]
    out = text[text.index("## Rows that are out"):text.index("## Papers read only")].splitlines()
    assert [line for line in out if line.startswith("| x")] == ["| x.one | published | alone | speed | 2 | 3 | m/s |"]
    assert [line for line in out if line.startswith("**")] == ["**x.one: alone, speed.** a | b"]
    sections = text[text.index("### x.one"):].split("### ")[1:]
    assert [line for line in sections[0].splitlines() if line.startswith("| published")] == [
        "| published | alone | speed | 2 | 2.5 | m/s | 0.5 | match |",
        "| published | alone | speed | 2 | 3 | m/s | 0.5 | out |"]
    assert "Source: a paper. Context only, without a published value: 1 more value." in sections[0]
    assert sections[0].rstrip().endswith("- as read\n- a | b")
    assert "Source: a paper. Context only, without a published value: 1 value." in sections[1]
    assert "|" not in sections[1]


def test_a_page_may_be_made_from_rows_alone():
    rows = [measured(2, 2.0001), measured(2, 2), measured(2, 2, "x.two")]
    done = grouped(rows, {"x.two": 3})
    assert done == {"x.one": (rows[:2], None), "x.two": (rows[2:], 3)}
    text = "\n".join(page(done, "command", "1", full=True))
    assert "in the papers' sizes. It took 3 seconds." in text and "No row is out or broken." in text
    assert "| x.one | 2 |  |  |  |  |  |  |" in text and "| all | 3 |  |  |  |  |  | 3 |" in text
    assert "It took" not in "\n".join(page(grouped(rows), "command", "1"))


def test_experiments_of_a_page_are_replaced(monkeypatch, tmp_path, capsys):
    """The result is the page that a run of all experiments prints, except for its introduction."""
    values = {"x.one": 3, "x.two": 2, "y": 9}

    def known():
        return {name: ("help", lambda name=name: [measured(2, values[name], name, why=f"why {name}")])
                for name in values}

    monkeypatch.setattr(reproduction, "experiments", known)
    monkeypatch.setattr(reproduce_command, "experiments", known)
    file = tmp_path / "page.md"

    def printed():
        reproduce_command.main([], False, False, False, "out", markdown=True)
        return capsys.readouterr().out

    def body(text):
        return re.sub(r" \d+ \|$", " s |", text[text.index("| experiment"):], flags=re.M)

    file.write_text(printed())
    for changed in ({"x.one": 2}, {"x.two": 9}, {"y": 2, "x.two": 2}, {"x.one": 9, "y": 7}):
        values |= changed
        assert reproduce_command.main(list(changed), False, False, False, "out", update=str(file)) == int(
            any(values[name] != 2 for name in changed))
        assert body(file.read_text()) == body(printed()), changed
        assert file.read_text().count("Run again on ") == 1
    capsys.readouterr()
    file.write_text("# Another page")
    with pytest.raises(flitlab.ConfigError, match=r"page\.md: not a page of flitlab reproduce --markdown"):
        reproduce_command.main(["y"], False, False, False, "out", update=str(file))
    with pytest.raises(flitlab.ConfigError, match=r"--update .*missing\.md"):
        reproduce_command.main(["y"], False, False, False, "out", update=str(tmp_path / "missing.md"))


def test_common_parts_of_sources_are_printed_once():
    assert cited(["A title, with a comma, 3.1"]) == "A title, with a comma, 3.1"
    assert cited(["A title, Table 1", "A title, Table 12", "A title, 2"]) == "A title, Table 1; Table 12; 2"
    assert cited(["A title", "Another, 2"]) == "A title; Another, 2"


def test_only_the_page_goes_to_stdout(monkeypatch, capsys):
    known = {"x.one": ("help", lambda: [measured(2, 2)]), "x.two": ("help", lambda: [measured(2, 9, "x.two")]),
             "y": ("help", None)}
    monkeypatch.setattr(reproduction, "experiments", lambda: known)
    assert reproduce_command.main(["x."], False, False, False, "out", markdown=True) == 1
    shown = capsys.readouterr()
    assert shown.out.startswith("# Published experiments\n\n`flitlab reproduce x. --markdown` of flitlab "
                                f"{flitlab.__version__} made this page on 20")
    assert re.findall(r"^### (.*)", shown.out, re.M) == ["x.one", "x.two"]
    assert [line.split()[0] for line in shown.err.splitlines()] == ["x.one", "x.two"]
    assert reproduce_command.main(["x.one"], False, False, False, "out", markdown=True) == 0


def test_several_at_a_time_print_what_one_at_a_time_does(cli):
    names = ("t3e.table2", "t3e.sizes", "metro.table3", "bgl.packet")
    alone, together = (cli("reproduce", *names, "--json", "--jobs", jobs) for jobs in ("1", "3"))
    assert alone.stdout == together.stdout and len(alone.stdout) > 1000
    assert alone.returncode == together.returncode


def test_so_many_at_a_time(cli):
    done = cli("reproduce", "t3e.sizes", "--jobs", "-2")
    assert done.returncode == 2 and "--jobs -2: it must be 1 or more, or 0" in done.stderr


def children(pid):
    return [int(child) for child in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]


@pytest.mark.skipif(not Path("/proc/self/task").exists(), reason="looks for processes in /proc")
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_an_interrupt_ends_all_of_them(number):
    command = [sys.executable, "-m", "flitlab", "reproduce", "bgl.hotregion", "bgl.escape", "--jobs", "2"]
    # Restores the handler of Ctrl-C, which background processes may ignore.
    heard = partial(signal.signal, signal.SIGINT, signal.SIG_DFL)
    run = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, preexec_fn=heard)
    workers = []
    while run.poll() is None:
        time.sleep(0.1)
        workers = [pid for pid in children(run.pid) if "resource_tracker" not in
                   Path(f"/proc/{pid}/cmdline").read_text()]
        if len(workers) == 2:
            break
    time.sleep(1)
    run.send_signal(number)
    _, reported = run.communicate(timeout=1800)
    assert run.returncode == 130 and len(workers) == 2, reported
    for _ in range(18000):
        if not any(Path(f"/proc/{pid}").exists() for pid in workers):
            break
        time.sleep(0.1)
    else:
        raise AssertionError("they still run")
    assert "Traceback" not in reported


def test_a_page_or_json_not_both(cli):
    done = cli("reproduce", "t3e.table3", "--json", "--markdown")
    assert done.returncode == 2 and "not allowed with" in done.stderr
