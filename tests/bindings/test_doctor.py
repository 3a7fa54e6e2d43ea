"""The lines of `flitlab doctor` about devices, independent of this machine's devices."""

from flitlab import _core, doctor


def report_lines(monkeypatch, devices: list[dict], available: bool = True) -> list[str]:
    backends = {"cpu": {"available": True, "threads": 4, "lanes": 64},
                "cuda": {"built": True, "available": available, "reason": "no device.", "devices": devices}}
    monkeypatch.setattr(_core, "backends", lambda: backends)
    return doctor.report().splitlines()


def test_each_device_is_listed_and_the_first_is_in_use(monkeypatch):
    h200 = {"name": "NVIDIA H200", "multiprocessors": 132, "bytes": 150_000_000_000}
    lines = report_lines(monkeypatch, [h200, h200 | {"name": "NVIDIA H100"}])
    assert "device 0 NVIDIA H200, 132 multiprocessors, 150 GB, in use" in lines
    assert "device 1 NVIDIA H100, 132 multiprocessors, 150 GB" in lines
    assert "CUDA_VISIBLE_DEVICES" in lines[-1]
    # With one device there is no choice to explain.
    assert "CUDA_VISIBLE_DEVICES" not in "".join(report_lines(monkeypatch, [h200]))


def test_without_a_device_the_reason_is_all_there_is(monkeypatch):
    lines = report_lines(monkeypatch, [], available=False)
    assert lines[-1] == "cuda     not available: no device."


def test_the_core_lists_devices():
    cuda = _core.backends()["cuda"]
    assert isinstance(cuda["devices"], list)
    assert bool(cuda["devices"]) >= cuda["available"]
