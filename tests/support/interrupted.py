"""Commands that receive a signal at a defined point of their work: the command's own process sends it, so that the
speed of the machine does not matter."""

import subprocess
import sys

AFTER_POINTS = """
import flitlab.kept
add, added = flitlab.kept.Finished.add, []
def counted(*given):
    add(*given)
    added.append(given)
    if len(added) == {points}:
        stop()
flitlab.kept.Finished.add = counted
"""

WHEN = """
from pathlib import Path
from flitlab import _core
run, stopped = _core.run, []
def watched(experiments, backend, threads, report, *rest, **named):
    def look(progress):
        if report:
            report(progress)
        if not stopped and ({condition}):
            stopped.append(progress)
            stop()
    return run(experiments, backend, threads, look, *rest, **named)
_core.run = watched
"""

COMMAND = """
import os, signal, sys
signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell may have started the tests with it ignored
def stop():
    {stop}
{watch}
from flitlab.cli import main
sys.exit(main({words!r}))
"""


def interrupted(words, folder, number, points=0, condition="", whole_group=False):
    """Runs ``flitlab WORDS`` in a folder. It receives the signal after a number of finished points of a sweep, or when
    the expression ``condition`` of ``progress`` is true; with ``whole_group`` its children receive it as well, as from
    a terminal."""
    stop = f"os.killpg(os.getpgrp(), {int(number)})" if whole_group else f"os.kill(os.getpid(), {int(number)})"
    watch = AFTER_POINTS.format(points=points) if points else WHEN.format(condition=condition)
    code = COMMAND.format(stop=stop, watch=watch, words=[str(word) for word in words])
    return subprocess.run([sys.executable, "-c", code], cwd=folder, capture_output=True, text=True,
                          start_new_session=True, timeout=1800)
