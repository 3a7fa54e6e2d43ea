"""Files that describe clusters, and the job queues and workers that they request."""

import subprocess
import sys
from pathlib import Path

import pytest

import flitlab as fl
from flitlab import clusters
from flitlab.toml import tomllib

ROOT = Path(__file__).parents[2]



def test_a_slurm_job_requests_what_the_file_specifies(slurm, cluster_file):
    """Checks the script that would be submitted, because there is no queue here."""
    file = cluster_file('kind = "slurm"\nworkers = 8\n[options]\ncores = 4\nmemory = "8GB"\nqueue = "short"\n'
                        'walltime = "00:30:00"\n')
    given = clusters._read(file)
    clusters._check(file, given)
    with slurm(**given["options"]) as cluster:
        script = cluster.job_script()
    for line in ("#SBATCH -p short", "#SBATCH --cpus-per-task=4", "#SBATCH -t 00:30:00"):
        assert line in script


def test_ctrl_c_is_an_interrupt_after_a_queue_is_imported(slurm):
    """In a new process, because only the first import of dask_jobqueue replaces the interrupt handler."""
    done = subprocess.run([sys.executable, "-c", "import os, signal; from flitlab import clusters\n"
                           "clusters.imported('dask_jobqueue', 'SLURMCluster')\n"
                           "try: os.kill(os.getpid(), signal.SIGINT)\n"
                           "except KeyboardInterrupt: print('interrupted')"], capture_output=True, text=True)
    assert done.stdout == "interrupted\n", done.stderr


@pytest.mark.parametrize(("text", "message_text"), [
    ("", "kind = None; it must be one of local, ssh, slurm"),
    ('kind = "slrum"\nworkers = 2\n', "kind = 'slrum'; it must be one of"),
    ('kind = "local"\n', "workers = None; it must be a positive whole number"),
    ('kind = "local"\nworkers = 0\n', "workers = 0; it must be a positive whole number"),
    ('kind = "local"\nworkers = true\n', "workers = True"),
    ('kind = "local"\nworkers = 2\nworker = 3\n', "worker is not a key of a cluster file. Did you mean workers?"),
    ('kind = "local"\nworkers = 2\noptions = 3\n', "options must be a TOML table"),
    ('kind = "local"\nworkers = 2\n[options]\ncolour = "red"\n', "LocalCluster cannot be started with its"),
    ('kind = "scheduler"\n', "needs address"),
    ('kind = "scheduler"\naddress = "a"\nfile = "b"\n', "needs address"),
    ('kind = "scheduler"\naddress = 5\n', "address = 5; kind = 'scheduler' needs address = "),
    ('kind = "scheduler"\nfile = 5\n', "file = 5; kind = 'scheduler' needs address = "),
    ('kind = "scheduler"\nfile = ""\n', "file = ''; kind = 'scheduler' needs address = "),
    ('kind = "scheduler"\naddress = "a"\nworkers = 2\n', "kind = 'scheduler' has no workers; its keys are address"),
    ('kind = "scheduler"\naddress = "a"\n[options]\n', "kind = 'scheduler' has no options"),
    ('kind = "local"\nworkers = 2\naddress = "a"\n', "kind = 'local' has no address; its keys are kind, options, w"),
    ('kind = "slurm"\nworkers = 2\nfile = "a"\n', "kind = 'slurm' has no file"),
    ('kind = "ssh"\nworkers = 2\n', "kind = 'ssh' has no workers; its keys are kind, options"),
    ('kind = "scheduler"\nfile = "nowhere.json"\n', "file = 'nowhere.json' does not exist"),
    ('kind = "scheduler"\naddress = "nothing"\n', "no Dask scheduler answers at nothing"),
    ("kind = ", "cluster.toml' is not valid TOML: Invalid value"),
])
def test_files_that_describe_no_cluster(text, message_text, cluster_file):
    pytest.importorskip("distributed")
    file = cluster_file(text)
    with pytest.raises(fl.ConfigError, match=message_text.replace("[", r"\[")) as error, fl.cluster(file):
        pass
    assert str(file) in str(error.value)


def test_ssh_names_its_missing_package_which_dasks_extra_has(cluster_file, monkeypatch):
    pytest.importorskip("distributed")
    monkeypatch.setitem(sys.modules, "asyncssh", None)
    file = cluster_file('kind = "ssh"\n[options]\nhosts = ["localhost", "localhost"]\n')
    with pytest.raises(fl.ConfigError, match=r"asyncssh is not installed: pip install 'flitlab\[dask\]'"):
        clusters.start(file)
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    assert "asyncssh" in project["optional-dependencies"]["dask"]


def test_a_file_that_is_not_there():
    pytest.importorskip("distributed")
    with pytest.raises(fl.ConfigError, match=r"cluster = 'nowhere.toml' cannot be read"), fl.cluster("nowhere.toml"):
        pass
