"""Collective operations of golden chips: the rows of the command, and that nothing is wrong."""

import json

import numpy as np
import pytest

from celosia.arch.config import preset
from celosia.bench.collectives import OPS, _rows
from celosia.cli.main import main
from celosia.collectives.schedule.emit import Slice


def rows(capsys, *arguments):
    assert main(["bench", "collectives", "--backend", "model", "--json", *arguments]) == 0
    return json.loads(capsys.readouterr().out)


@pytest.mark.parametrize("topology", ["4", "2x2"])
def test_every_operation(capsys, topology):
    found = rows(capsys, "--preset", "nano", "--topology", topology, "--op", *OPS, "--bytes",
                 "1024", "16384")
    assert [each["op"] for each in found] == [op for op in OPS for _ in range(2)]
    for each in found:
        assert each["wrong"] == 0
        assert 0 < each["share"] < 1
        assert each["algbw"] == each["bytes"] / each["cycles"]
        factor = {"all_reduce": 1.5, "permute": 1}.get(each["op"], .75)
        assert each["busbw"] == pytest.approx(factor * each["algbw"])
    assert {each["memory"] for each in found} == {"acc", "external"}


@pytest.mark.parametrize(("nbytes", "cycles"), [(64, 1371), (65536, 14816)])
def test_the_clock_of_golden_chips_is_about_that_of_rtl(capsys, nbytes, cycles):
    [found] = rows(capsys, "--topology", "8", "--bytes", str(nbytes))
    assert abs(found["cycles"] - cycles) <= 0.02 * cycles
    assert found["share"] == pytest.approx(1.75 * nbytes / 8 / found["cycles"])


def test_latencies_of_each_link(capsys):
    """Golden chips have them, too: a message that goes round one way takes what its links do."""
    cycles = {latency: rows(capsys, "--preset", "nano", "--topology", "4", "--bytes", "64",
                            "--latency", latency)[0] for latency in ("10", "10..500", "500")}
    assert [each["wrong"] for each in cycles.values()] == [0, 0, 0]
    few, some, many = (each["cycles"] for each in cycles.values())
    assert few < some < many


def test_a_table(capsys):
    assert main("bench collectives --backend model --preset core4 --topology 2".split()) == 0
    head, line = capsys.readouterr().out.splitlines()
    assert head.split() == ["op", "topology", "bytes", "cycles", "algbw", "busbw", "share", "wrong",
                            "memory"]
    assert line.split()[:3] == ["all_reduce", "2", "65536"]


@pytest.mark.parametrize(("arguments", "message"), [
    (["--topology", "4x"], ("argument --topology: must be chips along each dimension, such as 8 "
                            "or 4x4, not '4x'")),
    (["--op", "broadcast"], "argument --op: invalid choice: 'broadcast'"),
    (["--latency", "5..1"], ("argument --latency: latency must be cycles of all links, such as 64, "
                             "or the least and the most of one, such as 1..300, not '5..1'")),
])
def test_what_is_wrong(capsys, arguments, message):
    with pytest.raises(SystemExit):
        main(["bench", "collectives", *arguments])
    assert message in capsys.readouterr().err


def test_a_payload_without_equal_shares(capsys):
    arguments = "--backend model --topology 8 --op all_gather --bytes 100"
    assert main(["bench", "collectives", *arguments.split()])
    assert ("--bytes must be a multiple of 4 for each of 8 chips, not 100"
            in capsys.readouterr().err)


def test_a_step_of_training_beside_that_of_one_chip(capsys):
    assert main(["bench", "pod", "--backend", "model", "--topology", "2", "--net", "20-24-3",
                 "--batch", "16", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["cycles"] > found["alone"] > 0
    assert found["scaling"] == found["cycles"] / found["alone"]
    assert found["meetings"] == 0
    assert found["bit_exact"] is None
    assert main(["bench", "pod", "--net", "20-3"]) == 1
    assert "--layers must be three sizes to train" in capsys.readouterr().err


def test_a_scaling_curve(capsys, monkeypatch):
    monkeypatch.setattr("celosia.bench.pod.CURVE", ("2", "2x2"))
    arguments = "bench pod --curve --backend model --net 20-24-3 --batch 4".split()
    assert main([*arguments, "--json"]) == 0
    one, two, four = json.loads(capsys.readouterr().out)
    assert [each["chips"] for each in (one, two, four)] == [1, 2, 4]
    assert [each["batch"] for each in (one, two, four)] == [64, 32, 16]
    assert (one["weak"], one["strong"]) == (1, 1)
    for each in (two, four):
        assert each["weak"] == one["weak_cycles"] / each["weak_cycles"] < 1
        assert each["strong"] == one["strong_cycles"] / each["strong_cycles"]
    assert two["strong_cycles"] > four["strong_cycles"] / 2
    assert main(arguments) == 0
    table = capsys.readouterr().out.splitlines()
    assert table[0].split() == ["topology", "weak", "of", "one", "rows", "strong", "speedup"]
    assert [line.split()[0] for line in table[1:]] == ["1", "2", "2x2"]
    monkeypatch.setattr("celosia.bench.pod.CURVE", ("8x8",))
    assert main([*arguments[:-1], "3"]) == 1
    assert ("batch of a scaling curve must be at least 4, so that 16 times as many rows are some "
            "for each of 64 chips, not 3") in capsys.readouterr().err


def test_elements_are_in_the_rows_of_their_slices():
    """The last row of a slice may have fewer than there are lanes; other rows are zero."""
    config = preset("nano")
    acc = _rows(config, [Slice(0, 0, 6, (3, 5)), Slice(0, 6, 4, (7, 8)), Slice(0, 10, 1, (1, 2))],
                np.arange(100, 111, dtype=np.int32))
    assert acc.shape == (config.acc_rows, 4)
    found = {row: acc[row].tolist() for row in range(len(acc)) if acc[row].any()}
    assert found == {1: [110, 0, 0, 0], 3: [100, 101, 102, 103], 4: [104, 105, 0, 0],
                     7: [106, 107, 108, 109]}
    ones = _rows(config, [Slice(0, 0, 1, (0, 1))], np.ones(1, np.float32))
    assert ones[0].tolist() == [0x3F800000, 0, 0, 0]
