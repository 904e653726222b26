"""Runs of a pod that are repeated do what plain chips do, on other data."""

import numpy as np
import pytest

from celosia.arch.config import TpuConfig
from celosia.arch.encoding import encode
from celosia.arch.faults import AnyFault, Fault
from celosia.model import Machine, PlainMachine, Pod, PodProgram, PodStopped
from celosia.program.asm import assemble

CHIP = TpuConfig("linked", dim=4, int8=True, bf16=True, ub_rows=64, acc_rows=64, bus_bytes=8,
                 ports=2)
RING = {(0, 0): (1, 1), (1, 0): (2, 1), (2, 0): (0, 1)}
#: A chip adds what comes to its rows, by its number; products lie before and behind.
TEXT = """
    chip r1
    matmul acc[8], ub[0], ub[16], fmt=bf16, wload=1, wrows=4, n0=4
    vector fadd, acc[0], acc[0], acc[8], n0=4
    send acc[0], fmt=w32, n0=4
    recv sum_f, acc[4], fmt=w32, port=1, n0=4
    vector iadd, acc[4], acc[4], scalar[r1], n0=4
    send ub[0], fmt=bf16, n0=4, tag=3
    recv set, ub[0], fmt=bf16, port=1, n0=4, tag=3
    halt"""
#: Takes the row that acc[20] names, and sends it.
TAKES = """
    vector gather, acc[24], acc[0], acc[20], n0=1, param=4
    send acc[24], fmt=w32, n0=1
    recv set, acc[25], fmt=w32, port=1, n0=1
    halt"""


class Chips:
    """Chips of two kinds that are given the same."""

    def __init__(self) -> None:
        self.fast, self.plain = ([made(CHIP) for _ in range(3)] for made in (Machine, PlainMachine))
        self.pod = Pod(self.fast, RING)
        self.rng = np.random.default_rng(4)

    def fill(self) -> None:
        for fast, plain in zip(self.fast, self.plain, strict=True):
            acc = self.rng.standard_normal(plain.acc.shape).astype(np.float32).view(np.uint32)
            ub = self.rng.standard_normal(plain.ub.shape).astype(np.float32).view(np.uint32) >> 16
            for each in (fast, plain):
                each.acc[:], each.ub[:] = acc, ub

    def load(self, *texts: str) -> list[PodProgram]:
        programs = []
        for fast, plain, text in zip(self.fast, self.plain, texts, strict=True):
            insns = assemble(text, CHIP).insns
            for each in (fast, plain):
                each.memory.write(0, b"".join(map(encode, insns)))
            programs.append(PodProgram(0, len(insns)))
        return programs

    def run(self, *texts: str) -> list[AnyFault]:
        """Run both, which must be equal; return how it ended."""
        programs = self.load(*texts)
        found = self.pod.run(programs)
        wanted = Pod(self.plain, RING).run(programs)
        assert found == wanted
        self.equal()
        return [each.cause for each in found]

    def equal(self) -> None:
        for fast, plain in zip(self.fast, self.plain, strict=True):
            assert (fast.acc == plain.acc).all()
            assert (fast.ub == plain.ub).all()


@pytest.fixture
def started(monkeypatch):
    """Runs that are not repeated."""
    found = []
    start = Machine.start

    def counted(self, *args):
        found.append(self)
        return start(self, *args)

    monkeypatch.setattr(Machine, "start", counted)
    return found


def test_a_repeated_run_works_on_the_data_of_now(started):
    chips = Chips()
    for _ in range(3):
        chips.fill()
        assert chips.run(TEXT, TEXT, TEXT) == [Fault.NONE] * 3
    assert len(started) == 3


def test_other_code_of_one_chip_is_another_run(started):
    chips = Chips()
    other = TEXT.replace("iadd", "isub")
    for text in (TEXT, other, other, TEXT):
        chips.fill()
        chips.run(TEXT, text, TEXT)
    assert len(started) == 9, "the same place has one program"


def test_a_number_that_is_read_is_read_again(started):
    chips = Chips()
    text = "read r2, acc[30], 0\nbeq r2, 0, skip\nsend acc[0], fmt=w32, n0=1\nskip: halt"
    takes = "recv set, acc[9], fmt=w32, port=1, n0=1\nhalt"
    for word in (1, 1):
        chips.fill()
        chips.fast[0].acc[30] = chips.plain[0].acc[30] = word
        chips.run(text, takes, "halt")
    assert len(started) == 6
    chips.fast[0].acc[30] = 0
    with pytest.raises(PodStopped, match="chip 1 waits at instruction 0, recv on port 1, for chip "
                                         "0, port 0, which halted at instruction 3"):
        chips.pod.run(chips.load(text, takes, "halt"))


def test_a_bad_index_of_a_repeated_run_ends_its_chip():
    chips = Chips()
    for index in (3, 2):
        chips.fill()
        for each in (*chips.fast, *chips.plain):
            each.acc[20] = index
        assert chips.run(*[TAKES] * 3) == [Fault.NONE] * 3
    for each in (chips.fast[1], chips.plain[1]):
        each.acc[20] = 4
    programs = chips.load(*[TAKES] * 3)
    said = []
    for pod in (chips.pod, Pod(chips.plain, RING)):
        with pytest.raises(PodStopped) as error:
            pod.run(programs)
        said.append((str(error.value), error.value.waits))
    text = ("a message must come: chip 2 waits at instruction 2, recv on port 1, for chip 1, "
            "port 0, which stopped with INDEX_RANGE at instruction 0")
    assert said[0] == said[1] == (text, {2: 2})
    chips.equal()


def test_an_observer_sees_what_is_not_repeated(started):
    chips, seen = Chips(), []
    for turn in range(2):
        chips.fill()
        chips.run(TEXT, TEXT, TEXT)
        chips.fast[2].observer = lambda pc, command: seen.append(pc)
        assert seen == ([] if not turn else [1, 2, 5])
    assert len(started) == 6


def test_runs_of_more_steps_than_all_chips_may_have_are_not_kept(started, monkeypatch):
    monkeypatch.setattr("celosia.model.fast.machine.MOST_STEPS", 8)  # of three commands on each
    chips = Chips()
    for _ in range(2):
        chips.fill()
        assert chips.run(TEXT, TEXT, TEXT) == [Fault.NONE] * 3
    assert len(started) == 6


def test_a_chip_has_the_links_of_the_pod_that_runs_it():
    chips = Chips()
    other = Pod(chips.fast, {(0, 0): (2, 1)})
    chips.fill()
    chips.run(TEXT, TEXT, TEXT)
    sends = "send acc[40], fmt=w32, n0=1\nhalt"
    other.run(chips.load(sends, "halt", "recv set, acc[50], fmt=w32, port=1, n0=1\nhalt"))
    assert (chips.fast[2].acc[50] == chips.fast[0].acc[40]).all()
    chips.fill()
    chips.run(TEXT, TEXT, TEXT)
