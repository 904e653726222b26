"""What Prometheus is told, number by number."""

from celosia.serve import metrics
from celosia.serve.metrics import Metrics

#: Bounds of seconds, and how many of three runs took no longer.
RUNS = {"0.001": 0, "0.0025": 0, "0.005": 1, "0.01": 1, "0.025": 1, "0.05": 1, "0.1": 1, "0.25": 1,
        "0.5": 2, "1.0": 2, "2.5": 2, "5.0": 2, "10.0": 2, "30.0": 2, "+Inf": 3}


def samples(of):
    text, kind = of.text()
    assert kind.startswith("text/plain")
    lines = [line for line in text.decode().splitlines() if not line.startswith("#")]
    return {name: float(value) for name, _, value in (line.rpartition(" ") for line in lines)
            if "_created" not in name}


def chip(**fields):
    return {"pid": 17, "device": 0, "preset": "core", "backend": "model",
            "busy": {"mxu": 0.5, "vpu": 0.25}, "memory": {"used": 3, "peak": 5, "limit": 9},
            "runs": 4, "total_cycles": 99, "faults": 1, "requests": 7} | fields


def test_runs_are_counted_with_their_rows_and_what_fills_them(monkeypatch):
    monkeypatch.setattr(metrics, "statuses", lambda: iter(()))
    made = Metrics("net")
    for rows, seconds, cycles in ((3, 0.004, 100), (8, 0.5, 10), (1, 31, 1)):
        made.ran(rows, 8, seconds, cycles)
    found = samples(made)
    assert found['celosia_model_info{name="net"}'] == 1
    assert found["celosia_rows_total"] == 12
    assert found["celosia_rows_padding_total"] == 5 + 0 + 7
    assert found["celosia_chip_cycles_total"] == 111
    assert found["celosia_run_seconds_count"] == 3
    assert found["celosia_run_seconds_sum"] == 31.504
    assert {name: found[f'celosia_run_seconds_bucket{{le="{name}"}}'] for name in RUNS} == RUNS
    assert {name.split('"')[1] for name in found
            if name.startswith("celosia_request_seconds_bucket")} == set(RUNS)
    for name in ("requests_open", "held_bytes", "rows_waiting"):
        assert found[f"celosia_{name}"] == 0


def test_chips_of_all_processes_are_told(monkeypatch):
    monkeypatch.setattr(metrics, "statuses", lambda: iter([
        chip(), chip(pid=18, device=2, preset="nano", backend="rtl", runs=40)]))
    found = {name: value for name, value in samples(Metrics("net")).items()
             if name.startswith("celosia_device")}
    one = 'pid="17",preset="core"'
    other = 'pid="18",preset="nano"'

    def sample(name, which, more=""):
        device, backend = ("0", "model") if which is one else ("2", "rtl")
        labels = {f'backend="{backend}"', f'device="{device}"', *which.split(","), *more.split()}
        [value] = [value for key, value in found.items()
                   if key.partition("{")[0] == f"celosia_device_{name}"
                   and set(key.partition("{")[2].rstrip("}").split(",")) == labels]
        return value
    for which, runs in ((one, 4), (other, 40)):
        assert sample("runs", which) == runs
        assert (sample("total_cycles", which), sample("faults", which),
                sample("requests", which)) == (99, 1, 7)
        assert [sample("busy", which, f'unit="{unit}"') for unit in ("mxu", "vpu")] == [0.5, 0.25]
        assert [sample("memory_bytes", which, f'kind="{kind}"')
                for kind in ("used", "peak", "limit")] == [3, 5, 9]
    assert len(found) == 2 * (4 + 2 + 3)
