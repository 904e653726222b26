"""Runs programs on a chip and on the golden model, and compares all that they leave behind.

``python -m celosia_sim.lockstep --preset core --seeds 0 10000`` runs as many random programs as
wanted; with ``--faults``, programs that end in a fault, with ``--bus-errors``, in a bus error; with
``--cut``, before each of them one that is stopped in the middle. ``--coverage`` prints what the
programs of these seeds cover, of which as many run on the chip as it takes to see each of its
units wait for whatever there is. A difference ends it; ``--save DIR`` keeps the program,
``--trace FILE`` writes the waveform of all that ran.
"""

from __future__ import annotations

import argparse
import random
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from celosia.arch import registers
from celosia.arch.commands import Command, Dma, Store, unpack
from celosia.arch.config import BANKS, PRESETS, TpuConfig, preset
from celosia.arch.encoding import Imm, decode
from celosia.arch.faults import AnyFault, Fault
from celosia.arch.isa import INSTRUCTION_BYTES, Mem
from celosia.arch.registers import Control, Status
from celosia.model import Machine
from celosia.model.decode import decode_checked
from celosia.model.written import written
from celosia.program.asm import format_insn
from celosia_sim.coverage import Coverage, chip_bins, cover
from celosia_sim.randprog import (
    RandomProgram,
    random_bus_errors,
    random_faulting_program,
    random_program,
    random_walks,
)
from celosia_sim.rtl import ErrorRange, RtlTransport, SimOptions

__all__ = ["Lockstep", "LockstepError", "Outcome", "cover_chip", "cut_options", "main",
           "memory_options", "save_program"]


class LockstepError(AssertionError):
    """Chip and model differ; the message names the first instruction and row that do."""


@dataclass(frozen=True)
class Outcome:
    """How a program ended, on both; ``cycles`` are the chip's."""

    status: Status
    cause: Fault
    pc: int
    addr: int
    cycles: int


class Lockstep:
    """A chip and a golden model that go through the same programs.

    On-chip memories and the data of each program are compared after every run with ``==``; they
    keep their contents from program to program, so each starts from what those before it left.

    Parameters
    ----------
    config
        The chip.
    transport
        Its simulation, fresh.
    timeout
        Cycles that a program may take.

    Attributes
    ----------
    coverage
        What the chip's counters have shown.
    """

    def __init__(self, config: TpuConfig, transport: RtlTransport,
                 timeout: int = 2_000_000):
        self.config, self.transport, self.timeout = config, transport, timeout
        self.coverage = Coverage(config, simulated=True)
        self.machine = Machine(config)

    def run(self, program: RandomProgram, *, rows: bool = True) -> Outcome:
        """Run a program on both.

        Parameters
        ----------
        rows
            False: after a fault, instructions behind the one that it names may have run. Then only
            the ends are compared, and the model gets the chip's on-chip memories.

        Raises
        ------
        LockstepError
            If they end differently, or leave different rows or bytes.
        """
        self.transport.write_memory(program.program_addr, program.code)
        self.transport.write_memory(program.data_addr, program.image)
        program.load(self.machine.memory)
        before = self.machine.ub.copy(), self.machine.acc.copy()
        with program.failing(self.machine.memory):
            wanted = self.machine.run(program.program_addr, program.length, program.windows)
        with self._failing(program):
            outcome = self._run_chip(program)
        ends = (outcome.status, outcome.cause, outcome.pc, outcome.addr)
        expected = (wanted.status, wanted.cause,
                    wanted.pc if wanted.status == Status.FAULTED else 0, wanted.addr)
        if ends != expected:
            raise LockstepError(
                f"{self._name(program)}: the chip must end as {_end(*expected)}, "
                f"not {_end(*ends)}; instruction: {_text(program, expected[2])}")
        if rows:
            self._compare(program, before, self._spoilt(program, outcome))
        if outcome.status == Status.FAULTED:
            self._soft_reset()
        if not rows:
            for name, mine in (("ub", self.machine.ub), ("acc", self.machine.acc)):
                mine[:] = self.transport.peek(name, 0, len(mine)).view(mine.dtype)
        return outcome

    def cut(self, program: RandomProgram, cycles: int, *, by_host: bool = False) -> Status:
        """Start a program on the chip alone, reset it in the middle, take over what it left.

        The model gets the chip's on-chip memories, so that the next :meth:`run` finds out whether
        anything else of the program has outlived the reset.

        Parameters
        ----------
        cycles
            After so many the watchdog stops the program, unless it has halted.
        by_host
            Nothing stops the program; the host resets it after about so many cycles.

        Returns
        -------
        Status
            That before the reset: RUNNING, DONE or FAULTED.

        Raises
        ------
        LockstepError
            If the watchdog fails, the counters do not add up, or a row has changed that the program
            does not write.
        """
        self.transport.write_memory(program.program_addr, program.code)
        self.transport.write_memory(program.data_addr, program.image)
        self._start(program, 0 if by_host else cycles)
        waited = self.transport.wait_interrupt(cycles if by_host else cycles + 100)
        status = Status(self._read("STATUS"))
        if not waited and not by_host:
            raise LockstepError(f"{self._name(program)}: the watchdog must stop it after {cycles} "
                                f"cycles, it is at instruction {self._read('PC')}")
        if status == Status.FAULTED:
            ended = Fault(self._read("FAULT_CAUSE")), self._read("CYCLES_LO")
            if ended != (Fault.WATCHDOG, cycles):
                raise LockstepError(f"{self._name(program)}: the watchdog must stop it after "
                                    f"{cycles} cycles, not {ended[0].name} after {ended[1]}")
        if status != Status.RUNNING:
            self._check_counters(program, self._read("CYCLES_LO"),
                                 Fault(self._read("FAULT_CAUSE")))
        self._soft_reset()
        machine = self.machine
        written = self._writers(program, (machine.ub, machine.acc))
        for name, rows in (("ub", machine.ub), ("acc", machine.acc)):
            chip = self.transport.peek(name, 0, len(rows)).view(rows.dtype)
            for row in np.flatnonzero((chip != rows).any(axis=1)):
                if (name, int(row)) not in written:
                    raise LockstepError(f"{self._name(program)}: stopped after {cycles} cycles, it "
                                        f"must not have changed {name} row {row}")
            rows[:] = chip
        return status

    @contextmanager
    def _failing(self, program: RandomProgram) -> Iterator[None]:
        """Let the chip's memory answer with the program's bus errors."""
        if not program.errors:
            yield
            return
        transport = self.transport
        if not isinstance(transport, RtlTransport):
            raise TypeError(f"a program with bus errors must run on an RtlTransport, not "
                            f"{type(transport).__name__}")
        options = transport.options
        transport.set_options(replace(
            options, errors=tuple(ErrorRange(*span) for span in program.errors)))
        yield
        transport.set_options(options)

    def _spoilt(self, program: RandomProgram, outcome: Outcome) -> dict[str, NDArray]:
        """Return rows and bytes that a transfer may have written before its bus error.

        The model takes the chip's rows; it has executed nothing of such an instruction.
        """
        if outcome.cause not in (Fault.BUS_READ, Fault.BUS_WRITE):
            return {}
        code = program.code[outcome.pc * INSTRUCTION_BYTES:][:INSTRUCTION_BYTES]
        values = [word.value for word in decode(code).operands if isinstance(word, Imm)]
        decoded = decode_checked(self.config, code)
        dma = unpack(decoded.opcode, decoded.fields, values, ())
        assert isinstance(dma, Dma)
        if isinstance(dma, Store):
            return {"memory": np.concatenate([
                np.arange(dma.row_bytes) + dma.addr + m * dma.pitch - program.data_addr
                for m in range(dma.rows)])}
        name, rows = ("ub", self.machine.ub) if dma.mem == Mem.UB else ("acc", self.machine.acc)
        spoilt = np.arange(len(rows))[dma.chip(self.config.dim).index()]
        rows[spoilt] = self.transport.peek(name, 0, len(rows)).view(rows.dtype)[spoilt]
        return {name: spoilt}

    def _run_chip(self, program: RandomProgram) -> Outcome:
        self._start(program, self.timeout)
        if not self.transport.wait_interrupt(self.timeout + 10_000):
            raise LockstepError(f"{self._name(program)}: the chip must raise its interrupt within "
                                f"{self.timeout} cycles, it is at instruction {self._read('PC')}")
        cycles, cause = self._read("CYCLES_LO"), Fault(self._read("FAULT_CAUSE"))
        self._check_counters(program, cycles, cause)
        return Outcome(Status(self._read("STATUS")), cause, self._read("FAULT_PC"),
                       self._read("FAULT_ADDR"), cycles)

    def _start(self, program: RandomProgram, watchdog: int) -> None:
        windows = [*program.windows, *[(1, 0)] * (registers.NUM_WINDOWS - len(program.windows))]
        self._write("PROGRAM", program.program_addr)
        self._write("LENGTH", program.length)
        for i, (base, last) in enumerate(windows):
            self._write(f"WINDOW{i}_BASE", base)
            self._write(f"WINDOW{i}_LAST", last)
        for name, value in (("WATCHDOG", watchdog), ("IRQ_STATUS", 1), ("IRQ_ENABLE", 1),
                            ("CONTROL", Control.START)):
            self._write(name, value)

    def _check_counters(self, program: RandomProgram, cycles: int, cause: Fault) -> None:
        """Every unit is in one state in every cycle, and the probe has seen what was counted."""
        counters = {name: self.transport.read_register(offset)
                    for name, offset in registers.COUNTERS.items()}
        for unit in registers.UNIT_NAMES:
            states = {state.name.lower(): counters[f"{unit}_{state.name.lower()}"]
                      for state in registers.Activity}
            if sum(states.values()) != cycles:
                raise LockstepError(f"{self._name(program)}: the states of {unit} must add up to "
                                    f"{cycles} cycles, not {sum(states.values())}: {states}")
        if isinstance(self.transport, RtlTransport) and self.transport.probe is not None:
            seen = self.transport.probe.counters
            for name, count in counters.items():
                if seen[name] != count:
                    raise LockstepError(f"{self._name(program)}: counter {name} must be what the "
                                        f"probe has seen, {seen[name]}, not {count}")
        self.coverage.chip(counters, cause)

    def _soft_reset(self) -> None:
        self._write("CONTROL", Control.RESET)
        for _ in range(1000):
            if self._read("STATUS") == Status.IDLE:
                return
        raise LockstepError("STATUS must become idle after a soft reset")

    def _compare(self, program: RandomProgram, before: tuple[NDArray, NDArray],
                 spoilt: dict[str, NDArray]) -> None:
        machine = self.machine
        bad: dict[str, NDArray] = {}
        for name, rows in (("ub", machine.ub), ("acc", machine.acc)):
            chip = self.transport.peek(name, 0, len(rows)).view(rows.dtype)
            bad[name] = np.flatnonzero((chip != rows).any(axis=1))
        size = len(program.image)
        chip = self.transport.read_memory(program.data_addr, size)
        bad["memory"] = np.flatnonzero(chip != machine.memory.read(program.data_addr, size))
        bad |= {name: np.setdiff1d(bad[name], places) for name, places in spoilt.items()}
        if not any(map(len, bad.values())):
            return
        writer = self._writers(program, before)
        first = min(((writer.get((name, int(row)), (-1, -1))), name, int(row))
                    for name, rows in bad.items() for row in rows)
        (order, pc), name, row = first
        if name == "memory":
            where = f"byte {program.data_addr + row:#x}"
            shown = chip[row:row + 16], machine.memory.read(program.data_addr + row, 16)
        else:
            where = f"{name} row {row}"
            rows = getattr(machine, name)
            shown = self.transport.peek(name, row, 1).view(rows.dtype)[0], rows[row]
        counts = ", ".join(f"{len(rows)} of {name}" for name, rows in bad.items())
        by = "written before the program" if pc < 0 else (
            f"written by instruction {pc} ({order}. of the tensor instructions): "
            f"{_text(program, pc)}")
        raise LockstepError(f"{self._name(program)}: {where} must be\n  {shown[1]!s}\nnot\n  "
                            f"{shown[0]!s}\n{by}\nrows and bytes that differ: {counts}")

    def _writers(self, program: RandomProgram,
                 before: tuple[NDArray, NDArray]) -> dict[tuple[str, int], tuple[int, int]]:
        """Run the model again; return the last writer of each row and byte: order and pc."""
        machine = Machine(self.config)
        machine.ub[:], machine.acc[:] = before
        program.load(machine.memory)
        writers: dict[tuple[str, int], tuple[int, int]] = {}
        order = 0

        def observe(pc: int, command: Command) -> None:
            nonlocal order
            order += 1
            name, places = written(command, machine)
            if name == "memory":
                places = places - program.data_addr
            for place in places.tolist():
                writers[name, place] = order, pc

        machine.observer = observe
        with program.failing(machine.memory):
            machine.run(program.program_addr, program.length, program.windows)
        return writers

    def _name(self, program: RandomProgram) -> str:
        return f"{self.config.name}, seed {program.seed}"

    def _read(self, name: str) -> int:
        return self.transport.read_register(registers.BY_NAME[name].offset)

    def _write(self, name: str, value: int) -> None:
        self.transport.write_register(registers.BY_NAME[name].offset, int(value))


def _end(status: Status, cause: AnyFault, pc: int, addr: int) -> str:
    if status == Status.DONE:
        return "done"
    return f"{status.name.lower()} ({cause.name} at instruction {pc}, address {addr:#x})"


def _text(program: RandomProgram, pc: int) -> str:
    code = program.code[pc * INSTRUCTION_BYTES:(pc + 1) * INSTRUCTION_BYTES]
    try:
        return format_insn(decode(code))
    except ValueError as error:
        return f"{code.hex()} ({error})"


def save_program(program: RandomProgram, folder: Path) -> None:
    """Write a program into a folder: its instructions as text and as bytes, and its data."""
    folder.mkdir(parents=True, exist_ok=True)
    lines = [f"# {program.config.name}, seed {program.seed}",
             f"# code at {program.program_addr:#x}, data at {program.data_addr:#x}",
             *(f"# window {first:#x}..{last:#x}" for first, last in program.windows),
             *(f"# bus errors {first:#x}..{last:#x}" for first, last in program.errors),
             *(f"{pc:4}  {_text(program, pc)}" for pc in range(program.length))]
    (folder / "program.txt").write_text("\n".join(lines) + "\n")
    (folder / "program.bin").write_bytes(program.code)
    (folder / "data.bin").write_bytes(program.image)


def cut_options(seed: int) -> tuple[int, bool]:
    """Return after how many cycles a seed's program is stopped, and whether by the host."""
    rng = random.Random(f"cut/{seed}")
    cycles = rng.randrange(rng.choice((1, 100, 100)), rng.choice((200, 400, 1200)))
    return cycles, rng.random() < 0.25


def cover_chip(lockstep: Lockstep, seeds: range) -> None:
    """Run legal, faulty and stopped programs until a chip has hit each bin that takes a chip."""
    bins, config = set(chip_bins()), lockstep.config
    memory = lockstep.transport.memory_bytes
    for seed in seeds:
        if bins.isdisjoint(lockstep.coverage.missing()):
            return
        lockstep.transport.set_options(memory_options(seed))
        lockstep.run(random_program(config, seed, memory=memory))
        cycles, by_host = cut_options(seed)
        lockstep.cut(random_walks(config, seed), cycles, by_host=by_host)
        lockstep.run(random_faulting_program(config, seed, memory=memory))


def memory_options(seed: int) -> SimOptions:
    """Return the memory that a seed runs with: even ones exact, odd ones with random pauses."""
    if seed % 2 == 0:
        return SimOptions()
    rng = random.Random(seed)
    return SimOptions(read_latency=rng.randrange(1, 120), write_latency=rng.randrange(1, 40),
                      max_outstanding=rng.randrange(1, 64), stall_seed=seed,
                      stall_rate=rng.choice((0.05, 0.3, 0.6)))


def main(argv: list[str] | None = None) -> int:
    """Run random programs from the command line; 1 where one of them differs."""
    parser = argparse.ArgumentParser(prog="python -m celosia_sim.lockstep", description=__doc__)
    parser.add_argument("--preset", choices=PRESETS, default="nano")
    parser.add_argument("--lanes", type=int, default=0,
                        help="of the vector unit: a row in beats of so many words")
    parser.add_argument("--banks", type=int, default=BANKS,
                        help="of each on-chip memory")
    parser.add_argument("--seeds", type=int, nargs=2, default=(0, 1000), metavar=("FIRST", "END"))
    parser.add_argument("--size", type=int, default=40, help="instructions of a program")
    parser.add_argument("--faults", action="store_true", help="programs that end in a fault")
    parser.add_argument("--bus-errors", action="store_true", help="programs that meet a bus error")
    parser.add_argument("--cut", action="store_true",
                        help="before each, one of long vector instructions, reset in the middle")
    parser.add_argument("--coverage", action="store_true",
                        help="print how often legal and faulty programs hit each bin; 1 where one "
                             "of them is missed")
    parser.add_argument("--save", type=Path, metavar="DIR",
                        help="where to write the program that differs")
    parser.add_argument("--trace", type=Path, metavar="FILE",
                        help="a waveform, *.vcd or *.fst")
    args = parser.parse_args(argv)
    config = replace(preset(args.preset), lanes=args.lanes, banks=args.banks)
    if args.coverage:
        seeds = range(*args.seeds)
        lockstep = Lockstep(config, RtlTransport(config, SimOptions(probe=True)))
        cover_chip(lockstep, seeds)
        lockstep.coverage.hits += cover(config, seeds, seeds).hits
        print(lockstep.coverage.report())
        return int(bool(lockstep.coverage.missing()))
    transport = RtlTransport(config, SimOptions(trace=args.trace, probe=True))
    lockstep = Lockstep(config, transport)
    make = (random_faulting_program if args.faults else
            random_bus_errors if args.bus_errors else random_program)
    cycles = 0
    for seed in range(*args.seeds):
        transport.set_options(memory_options(seed))
        program = make(config, seed, args.size, transport.memory_bytes)
        try:
            if args.cut:
                after, by_host = cut_options(seed)
                lockstep.cut(random_walks(config, seed), after, by_host=by_host)
            cycles += lockstep.run(program).cycles
        except LockstepError as error:
            print(error, file=sys.stderr)
            if args.save:
                save_program(program, args.save)
            return 1
    first, end = args.seeds
    print(f"{config.name}: seeds {first}..{end - 1} equal, {cycles:,} cycles")
    return 0


if __name__ == "__main__":
    sys.exit(main())
