"""Devices of several processes meet as those of one do, and nobody waits for who does not come."""

import threading
import time

import ml_dtypes
import numpy as np
import pytest
from processes_here import alone, in_threads, name, processes, run, same

from celosia.collectives import Cancelled, Topology
from celosia.collectives.processes import _BEAT, PATIENCE, ProcessError, Processes
from celosia.graph.node import Node
from celosia.graph.types import DType

ALL, PAIRS, ACROSS = [[0, 1, 2, 3]], [[0, 1], [2, 3]], [[0, 2], [1, 3]]


def node(op, dtype=DType.F32, shape=(8, 3), **attrs):
    x = Node("parameter", (), {"dtype": dtype, "shape": shape}).result
    return Node(op, (x,), attrs)


OPERATIONS = [
    node("all_reduce", groups=ALL, reducer="add"),
    node("all_reduce", groups=PAIRS, reducer="maximum"),
    node("all_gather", groups=ACROSS, dim=1),
    node("reduce_scatter", groups=ALL, reducer="add", dim=0),
    node("all_to_all", groups=ALL, split=0, concat=1),
    node("collective_permute", pairs=[(0, 2), (2, 1), (1, 0)]),
    Node("device_id", (), {}),
]


def mine(device, dtype=np.float32):
    return np.random.default_rng(device).normal(size=(8, 3)).astype(dtype)


def everything(device, peer):
    return tuple(peer.exchange(each, [mine(device)][:each.op != "device_id"])
                 for each in OPERATIONS)


@pytest.mark.parametrize("options", [{}, {"order": "group"}, {"topology": Topology((2, 2))}])
@pytest.mark.parametrize("places", [(0, 0, 1, 1), (0, 1, 0, 1), (2, 0, 1, 0)])
def test_results_have_the_bits_of_one_process(places, options):
    if options.get("topology"):
        def work(device, peer):
            return (peer.exchange(OPERATIONS[0], [mine(device)]),)
    else:
        work = everything
    wanted = alone(places, work, **options)
    with processes(max(places) + 1) as (made, said):
        found = in_threads(len(made), lambda i: run(made[i], places, work, **options))
        merged = {device: each for one in found for device, each in one.items()}
    assert sorted(merged) == [0, 1, 2, 3]
    assert all(same(merged[device], wanted[device]) for device in wanted)
    assert said == []


@pytest.mark.parametrize(("dtype", "kind"), [
    (DType.BF16, ml_dtypes.bfloat16), (DType.BOOL, np.bool_), (DType.I8, np.int8),
    (DType.C64, np.complex64)])
def test_elements_of_all_types_go_from_process_to_process(dtype, kind):
    gather = node("all_gather", dtype, groups=[[0, 1]], dim=0)

    def work(device, peer):
        return (peer.exchange(gather, [mine(device, kind)]),)

    with processes(2) as (made, _):
        found = in_threads(2, lambda i: run(made[i], (0, 1), work)[i])
    assert all(same(each, [np.concatenate([mine(0, kind), mine(1, kind)])]) for each in found)


def test_processes_that_are_ahead_wait_in_the_runs_to_come():
    total = node("all_reduce", groups=[[0, 1, 2]], reducer="add")

    def work(device, peer):
        x = np.full((8, 3), device, np.float32)
        for turn in range(20):
            time.sleep(0.002 * (turn % 3 == device))
            x = peer.exchange(total, [x]) % 7
        return (x,)

    def several(process):
        time.sleep(0.05 * process.name.index)
        return [run(process, (0, 1, 2), work)[process.name.index] for _ in range(3)]

    with processes(3) as (made, said):
        found = in_threads(3, lambda i: several(made[i]))
    wanted = alone((0, 1, 2), work)
    assert all(same(each, wanted[0]) for one in found for each in one)
    assert said == []


SUM = node("all_reduce", groups=[[0, 1]], reducer="add")


def total(device, peer):
    return (peer.exchange(SUM, [mine(device)]),)


def test_another_program_ends_both():
    with processes(2) as (made, _):
        found = in_threads(2, lambda i: [run(made[i], (0, 1), total)[i], run(
            made[i], (0, 1), total, "step" if i else "loss")[i]][1])
        later = in_threads(2, lambda i: run(made[i], (0, 1), total)[i])
    for each in (*found, *later):
        assert isinstance(each, Cancelled)
        assert isinstance(each.first, ProcessError)
    assert str(found[0].first) == (
        "process 0 (pid 100 on here) and process 1 (pid 101 on here) must run the same program as "
        "number 2 of their programs together: loss on devices 0, 1, not step on devices 0, 1 in "
        "process 1 (pid 101 on here)")
    assert str(later[0].first) == str(found[0].first)


def test_another_operation_ends_both():
    other = node("all_reduce", groups=[[0, 1]], reducer="maximum")
    with processes(2) as (made, _):
        found = in_threads(2, lambda i: run(made[i], (0, 1), lambda device, peer: peer.exchange(
            other if device else SUM, [mine(device)]))[i])
    said = "".join(map(str, found))
    assert "unknown source: devices must meet at one operation: device " in said
    assert " is at all_reduce(groups=((0, 1),), reducer=maximum) of f32[8,3], others at " in said
    assert {type(each) for each in found} <= {ValueError, Cancelled}


def fails(device, peer):
    if device == 1:
        raise ValueError("argument 0 must be float32[3]")
    return total(device, peer)


def test_an_error_of_a_device_ends_the_run_in_all_processes():
    with processes(2) as (made, said):
        found = in_threads(2, lambda i: run(made[i], (0, 1), fails)[i])
        again = in_threads(2, lambda i: run(made[i], (0, 1), total)[i])
    assert str(found[0]) == ("process 1 (pid 101 on here): device 1 ended: argument 0 must be "
                             "float32[3]")
    assert type(found[1]) is ValueError
    assert same(again[0], again[1])  # the next run is well
    assert said == []


def test_a_process_whose_devices_end_without_an_operation_is_named():
    with processes(2) as (made, _):
        found = in_threads(2, lambda i: run(made[i], (0, 1), total if i == 0 else (
            lambda *_: None))[i])
    assert str(found[0]).endswith("all_reduce: device 1 of process 1 (pid 101 on here) ended "
                                  "without it")


def test_one_that_ends_leaves_what_it_has_brought():
    with processes(2) as (made, said):
        far = made[1].begin((0, 1), {"name": "step", "devices": [0, 1], "digest": "step"})
        far.send((0, 1), 0, "all_reduce(groups=((0, 1),), reducer=add) of f32[8,3]", {1: mine(1)})
        made[1].close()
        time.sleep(0.05)
        found = run(made[0], (0, 1), total)[0]
        after = run(made[0], (0, 1), total)[0]
        assert made[0].gone == []
    assert same(found, [mine(0) + mine(1)])
    assert str(after).endswith("device 1 of process 1 (pid 101 on here) ended without it")
    assert said == []


def test_one_that_is_gone_without_a_word_ends_all_runs():
    with processes(3) as (made, said):
        def work(i):
            if i == 1:
                time.sleep(0.05)
                for other in made[1]._others.values():  # as a kill does
                    other.wire.close()
                return None
            return run(made[i], (0, 1, 2), lambda device, peer: peer.exchange(
                node("all_reduce", groups=[[0, 1, 2]], reducer="add"), [mine(device)]))[i]

        found = in_threads(3, work)
        sentence = "process 1 (pid 101 on here) must go on, but it is gone"
        assert [str(found[0]), str(found[2])] == [sentence] * 2
        assert made[0].gone == [name(1)]
        assert str(run(made[0], (0, 1), total)[0]) == sentence
        assert same(*in_threads(2, lambda i: run(made[2 * i], (0, 2), total)[i]))
    assert said.count(sentence) == 2


def test_one_that_says_nothing_is_given_up(monkeypatch):
    def beat(self):
        if self.index == 0:  # so the other one does not give up, too
            usual(self)

    usual = Processes._beat
    monkeypatch.setattr(Processes, "_beat", beat)
    monkeypatch.setattr("celosia.collectives.processes._BEAT", 0.02)
    monkeypatch.setattr("celosia.collectives.meet.PATIENCE", 0.2)
    monkeypatch.setattr("celosia.collectives.processes.PATIENCE", 0.2)
    with processes(2) as (made, said):
        found = run(made[0], (0, 1), total)[0]
    wanted = "process 1 (pid 101 on here) must go on, but it has said nothing for 0.2 s"
    assert str(found) == wanted
    assert wanted in said


def test_one_that_lives_but_computes_for_long_is_waited_for(monkeypatch):
    monkeypatch.setattr("celosia.collectives.processes._BEAT", 0.05)
    monkeypatch.setattr("celosia.collectives.meet.PATIENCE", 0.25)

    def slow(device, peer):
        time.sleep(0.6 * device)
        return total(device, peer)

    with processes(2) as (made, said):
        found = in_threads(2, lambda i: run(made[i], (0, 1), slow)[i])
    assert same(found[0], found[1])
    assert said == []


def test_one_that_has_ended_waits_for_those_that_live(monkeypatch):
    monkeypatch.setattr("celosia.collectives.processes._BEAT", 0.05)
    monkeypatch.setattr("celosia.collectives.meet.PATIENCE", 0.25)
    with processes(2) as (made, said):
        made[0].close()
        made[0].wait(0.1)
        [sentence] = said
        assert sentence == ("process 1 (pid 101 on here) must end within 0.1 s after process 0 "
                            "(pid 100 on here)")
        begin = time.monotonic()
        late = threading.Timer(0.6, made[1].close)
        late.start()
        made[0].wait(20)
        assert 0.3 < time.monotonic() - begin < 10
        made[1].wait(20)
        assert made[0].gone == made[1].gone == []
        late.join()


def test_one_that_has_ended_does_not_wait_for_who_is_gone():
    with processes(2) as (made, said):
        made[0].close()
        made[1]._others[0].wire.close()  # as a kill does
        made[0].wait(20)
        assert made[0].gone == [name(1)]
    assert "process 1 (pid 101 on here) must go on, but it is gone" in said


def test_all_are_given_what_each_gives():
    with processes(3) as (made, _):
        found = in_threads(3, lambda i: [made[i].gather([i, turn]) for turn in range(20)])
    assert found == [[[[i, turn] for i in range(3)] for turn in range(20)]] * 3


def test_who_gathers_ends_with_the_one_that_is_waited_for():
    class Stopped(Exception):
        pass

    def look():
        raise Stopped

    with processes(2) as (made, _):
        with pytest.raises(Stopped):
            made[0].gather(1, look)
        made[1].close()
        with pytest.raises(ProcessError, match=r"^process 1 \(pid 101 on here\) must go on, but it "
                                               "has ended$"):
            made[0].gather(2)


def test_nobody_waits_for_one_that_has_withdrawn():
    with processes(2) as (made, _):
        assert in_threads(2, lambda i: made[i].gather(i)) == [[0, 1]] * 2
        made[1].withdraw("interrupted")
        with pytest.raises(ProcessError) as raised:
            made[0].gather(0)
    assert str(raised.value) == ("process 1 (pid 101 on here) must go on with all, but: "
                                 "interrupted")


def test_a_damaged_message_is_said():
    with processes(2) as (made, said):
        run_of = made[0].begin((0, 1), {"name": "step", "devices": [0, 1], "digest": ""})
        made[1]._others[0].wire.send(["arrays", 0, [0, 1], 0, "", [[1, "f32", [8]]]],
                                     [memoryview(bytes(36))])
        end = time.monotonic() + 10
        while len(said) < 2 and time.monotonic() < end:
            time.sleep(0.005)
    assert ("process 1 (pid 101 on here) must be understood, but: arrays must have 32 bytes, not "
            "36") in said
    assert run_of.here == {0}


def test_a_process_is_given_up_when_several_words_are_missing():
    assert PATIENCE >= 5 * _BEAT
