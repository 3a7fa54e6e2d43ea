"""Runs that can never end report it, and long planning can be interrupted."""

import re
import resource
import signal
import subprocess
import sys
import time

import pytest

import flitlab as fl

BATCH = {"traffic.mode": "batch", "traffic.batch_packets": 20, "run.stall_cycles": 20000}


@pytest.mark.parametrize("changes", [
    {"router.kind": "sconnect", "host.refuses": [0]},
    {"router.kind": "bgl", "topology.shape": [4, 4], "router.link_protocol": True, "faults.error_rate": 0.01},
])
def test_a_batch_that_cannot_end_is_an_error(changes):
    with pytest.raises(fl.RunError, match=r"no packet has arrived for \d+ cycles.*are under way.*run\.stall_cycles"):
        fl.run(fl.Experiment.from_dict(BATCH | changes))


@pytest.mark.parametrize("mode", [{"traffic.mode": "request_reply", "traffic.window": 2}, {"traffic.load": 0.1}])
def test_a_window_without_arrivals_is_an_error(mode):
    """Such a run was once reported as idle with load 0 in a closed loop, and as saturated otherwise."""
    with pytest.raises(fl.RunError, match=r"no packet has arrived for \d+ cycles.*are under way.*run\.watchdog_cycles"):
        fl.run(fl.Experiment.from_dict({"router.kind": "sconnect", "host.refuses": [0]} | mode))


def test_long_packets_are_waited_for():
    """Packets of 4095 flits are in flight for longer than the window, and none has arrived: the network is not
    stalled."""
    result = fl.run({"topology.shape": [4, 4], "router.kind": "vc", "traffic.packet_flits": 4095, "traffic.load": 0.5,
                     "run.warmup_cycles": 2000, "run.measure_cycles": 1500, "run.epoch_cycles": 100,
                     "run.drain_cycles": 0, "run.watchdog_cycles": 100})
    assert result.cycles < 4095 and result.packets.in_flight > 0 and result.packets.delivered == 0


LOST = {"router.kind": "t3e", "topology.shape": [2, 2, 1], "faults.nodes": [1], "faults.cycle": 500,
        "faults.unconnected": "warn", "faults.reroute_delay": 5000}


@pytest.mark.filterwarnings("ignore:faults.cycle")
def test_a_closed_loop_whose_windows_are_full_of_lost_requests_is_reported():
    loop = fl.Experiment.from_dict(LOST | {"traffic.mode": "request_reply", "traffic.window": 2, "traffic.load": 0.5})
    text = r"the closed loop cannot continue: 4 terminals .* have 2 requests without a reply each.*8 packets were lost"
    with pytest.raises(fl.RunError, match=text):
        fl.run(loop)
    network = fl.Network(loop).step(500).check()
    with pytest.raises(fl.RunError, match=text):
        network.step(2000).check()


def test_check_detects_a_trace_that_cannot_continue(tmp_path):
    trace = tmp_path / "trace.csv"
    trace.write_text("0,0,1,4\n10,1,0,4,0\n")
    network = fl.Network(LOST | {"faults.cycle": 0, "traffic.mode": "trace", "traffic.trace_file": str(trace)})
    with pytest.raises(fl.RunError, match="the trace cannot continue: 1 packets need others that were lost"):
        network.step(5000).check()


def test_patience_counts_from_the_last_arrival(tmp_path):
    """Packets that arrive one by one, each just within the stall limit, do not stop the run; nor does initial
    silence."""
    trace = tmp_path / "trace.csv"
    trace.write_text("".join(f"{30000 + 900 * i},0,5,1\n" for i in range(20)))
    e = fl.Experiment.from_dict({"topology.shape": [4, 4], "traffic.mode": "trace", "traffic.trace_file": str(trace),
                                 "topology.channel_delay": 64, "run.stall_cycles": 300, "run.epoch_cycles": 100})
    assert fl.run(e).packets.delivered == 20
    with pytest.raises(fl.RunError, match=r"arrived for \d+ cycles \(since cycle 30000\), and 1 are under way"):
        fl.run(e.set("run.stall_cycles", 100))


def test_a_stalled_run_ends_at_the_same_cycle_after_a_stop(tmp_path):
    e = fl.Experiment.from_dict(BATCH | {"router.kind": "sconnect", "host.refuses": [0]})
    with pytest.raises(fl.RunError) as whole:
        fl.run(e)
    seen = 0

    def stop(progress):
        nonlocal seen
        seen += 1
        if seen % 7 == 0:
            raise KeyboardInterrupt

    for _ in range(100):
        try:
            fl._core.run([e.core], "cpu", 1, stop, str(tmp_path / "c"), 1e9)
        except KeyboardInterrupt:
            continue
        except fl.RunError as error:
            assert str(error) == str(whole.value)
            return
    raise AssertionError("the stalled run did not end")


@pytest.mark.parametrize("network", [
    # Computing its tables takes a minute or two.
    {"router.kind": "sconnect", "topology.kind": "random", "topology.nodes": 4096},
    {"router.kind": "metro", "topology.radix": [4, 4, 4, 4, 4, 4], "topology.dilation": [2, 2, 2, 2, 2, 1],
     "traffic.packet_flits": 30, "faults.dead_links": 0.3},  # planning searches for paths around dead links
])
def test_planning_can_be_stopped(network):
    # Restores the handler of Ctrl-C, because a shell may start commands that ignore it.
    code = ("import signal; signal.signal(signal.SIGINT, signal.default_int_handler); "
            f"import flitlab as fl; print('go', flush=True); fl.Network(fl.Experiment.from_dict({network}))")
    process = subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    assert process.stdout.readline() == "go\n"
    time.sleep(2)
    process.send_signal(signal.SIGINT)
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    _, errors = process.communicate(timeout=1800)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    assert "KeyboardInterrupt" in errors
    assert after.ru_utime - before.ru_utime < 30  # processor time, independent of other load


@pytest.mark.parametrize("progress", ["shown", "None"])
def test_python_exits_while_a_thread_runs_an_experiment(progress):
    """Python ends threads that take its lock at exit. This once aborted the process."""
    code = ("import threading, time, flitlab as fl\n"
            "from flitlab import _core\n"
            "e = fl.load('vc-torus-8x8').set('run.measure_cycles', 10**9)\n"
            "calls = []\n"
            "def shown(p): calls.append(p['cycle'])\n"
            f"def run(): _core.run([e.core], 'cpu', 1, {progress})\n"
            "threading.Thread(target=run, daemon=True).start()\n"
            f"while {progress} and not calls: time.sleep(0.01)\n"
            "time.sleep(0.2)\n")
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=1800)
    assert (done.returncode, done.stderr) == (0, "")


def test_a_router_without_any_buffer_is_refused():
    with pytest.raises(fl.ConfigError, match="leaves no buffer that a new message could wait in"):
        fl.Network(fl.Experiment.from_dict({"router.kind": "adaptive", "router.spare_buffers": 0,
                                            "router.channel_buffers": 0}))


def test_many_dead_links_are_drawn_soon():
    e = fl.Experiment.from_dict({"router.kind": "metro", "topology.radix": [4, 4, 4, 4],
                                 "topology.dilation": [2, 2, 2, 1], "faults.dead_links": 0.2})
    started = time.process_time()
    fl.Network(e)
    assert time.process_time() - started < 60  # this once took minutes, and now takes about a second


def test_a_run_of_a_fabric_without_tables_is_rejected(cli, config):
    done = cli("run", config("sconnect-bringup"))
    assert done.returncode == 2
    assert 'routing.tables = "none"' in done.stderr and "python -m flitlab.sconnect.bringup CONFIG" in done.stderr
    command = [sys.executable, "-m", "flitlab.sconnect.bringup"]
    done = subprocess.run([*command, config("sconnect-bringup")], capture_output=True, text=True, timeout=1800)
    assert done.returncode == 0, done.stderr
    assert "64 TICs mapped, loaded and checked" in done.stdout and "0 to wrong nodes" in done.stdout
    assert subprocess.run([*command, config("vc-mesh-8x8")], capture_output=True, timeout=1800).returncode == 2
    assert subprocess.run(command, capture_output=True, timeout=1800).returncode == 2


def test_memory_of_a_program_is_known_before_it_is_taken(tmp_path):
    """30 all-to-alls of 2048 ranks are 250 million calls, more than this process's memory limit."""
    file = tmp_path / "p.csv"
    file.write_text("".join(f"{rank},alltoall,1\n" * 30 for rank in range(2048)))
    config = tmp_path / "c.toml"
    config.write_text('router.kind = "bgl"\ntopology.shape = [16, 16, 8]\n'
                      'traffic.mode = "program"\ntraffic.program_file = "p.csv"\n')
    limit = 3 << 30
    done = subprocess.run([sys.executable, "-m", "flitlab", "inspect", str(config)], capture_output=True, text=True,
                          timeout=1800, preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_AS, (limit, limit)))
    assert done.returncode == 2
    assert re.fullmatch(r".*traffic\.program_file: 70\d\d MB are needed, and \d+ MB are free\. "
                        r"The program has 2515\d+ calls, .*\.\n", done.stderr), done.stderr
