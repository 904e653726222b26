"""Scaling of pods: what is run, what is compared with what, and how it is said."""

import pytest

from celosia.arch.config import preset
from celosia.bench import pod
from celosia.bench.pod import CURVE, PodMeasurement, PodPoint, curve, curve_lines, report
from celosia.train import Classifier

NET = Classifier(20, 24, 3, 8)


def measurement(backend, exact):
    return PodMeasurement("training 20-24-3, batch 16", "2", "core", backend, 16, 12345, 10000,
                          1.2346, 3, exact, 1.23456, 2.346)


@pytest.mark.parametrize(("backend", "exact", "cycles", "result"), [
    ("rtl", True, "12,345", "equal, bit for bit, to golden chips"),
    ("rtl", False, "12,345", "DIFFERENT from golden chips"),
    ("model", None, "12,345 (an estimate)", "not checked"),
])
def test_what_a_step_took_is_said(backend, exact, cycles, result):
    assert list(report(measurement(backend, exact))) == [
        f"workload    training 20-24-3, batch 16 of each chip, core as 2 ({backend})",
        f"cycles      {cycles}, of one chip 10,000: 1.235",
        "host        2.35 s; it brought 3 arrays from chip to chip",
        "loss        1.2346",
        f"result      {result}"]


def test_a_curve_is_a_table():
    assert list(curve_lines([PodPoint("1", 1, 12193, 1.0, 16, 23456, 1.0),
                             PodPoint("2x2", 4, 12345, 0.98765, 4, 6789, 3.456)])) == [
        "topology        weak   of one   rows     strong  speedup",
        "1              12193   100.0%     16      23456     1.00",
        "2x2            12345    98.8%      4       6789     3.46"]


def test_a_curve_is_of_as_many_rows_of_each_chip_and_as_many_in_all(monkeypatch):
    """128 rows in all, 16 times those of a chip alone: 64 chips have two of them each."""
    asked = []

    def measured(config, backend, topology, net, *, seed, latency, errors, check):
        asked.append((str(topology), net.batch))
        assert (config.name, backend, seed, latency, errors, check) == (
            "nano", "rtl", 5, 7, 1e-6, False)
        assert (net.inputs, net.hidden, net.classes) == (20, 24, 3)
        return PodMeasurement("", "", "", "", net.batch, 100 * net.batch + topology.chips, 0, 0, 0,
                              None, 0, 0)

    def alone(config, backend, net, data, seed):
        assert (config.name, backend, seed) == ("nano", "rtl", 5)
        assert [(x.shape, labels.shape) for x, labels in data] == 2 * [
            ((net.batch, 20), (net.batch,))]
        return 100 * net.batch
    monkeypatch.setattr(pod, "measure_pod", measured)
    monkeypatch.setattr(pod, "_alone", alone)
    found = list(curve(preset("nano"), "rtl", NET, seed=5, latency=7, errors=1e-6))
    assert [each.topology for each in found] == ["1", *CURVE] == [
        "1", "2", "2x2", "4x2", "4x4", "8x8"]
    assert found[0] == PodPoint("1", 1, 800, 1.0, 128, 12800, 1.0)
    for each, chips, rows in zip(found[1:], (2, 4, 8, 16, 64), (64, 32, 16, 8, 2), strict=True):
        assert each == PodPoint(each.topology, chips, 800 + chips, 800 / (800 + chips), rows,
                                100 * rows + chips, 12800 / (100 * rows + chips))
    # Where both have the same rows, it is run once.
    assert sorted(asked) == sorted({(each.topology, rows) for each in found[1:]
                                    for rows in (8, each.batch)})


def test_as_many_rows_as_chips_are_enough(monkeypatch):
    monkeypatch.setattr(pod, "_alone", lambda *_: 1)
    assert next(curve(preset("nano"), "model", Classifier(20, 24, 3, 4))).batch == 64
    with pytest.raises(ValueError, match="^batch of a scaling curve must be at least 4, so that 16 "
                                         "times as many rows are some for each of 64 chips, not 3"):
        next(curve(preset("nano"), "model", Classifier(20, 24, 3, 3)))
