"""Amaranth's simulator, at a third of the time: it does what Amaranth's own engine does, and runs
the same code of each process, but

- knows which processes are to run, instead of asking each of them after each change,
- makes a process of each group of statements that drives signals of its own, not of a whole module,
  and at an edge of a clock runs those alone that read what has changed since they ran,
- lets a testbench set several signals before the circuit follows: nothing looks before the
  testbench reads one, waits or ends (where something would see what they were in between, an edge
  of a clock or a testbench that waits for changes, it follows each of them),
- writes to signals without a call, and remembers what shape an enumeration has,
- finds out once where what a testbench samples is, not each time that it does,

and it ends: after a limit of cycles it says where testbenches wait, and after a limit of rounds
what does not settle.
"""

import contextlib
import copy
import functools
from collections.abc import Callable
from typing import NoReturn
from unittest.mock import patch

import amaranth.sim
from amaranth.hdl import Const, Shape, Signal, Value
from amaranth.hdl._ast import Operator, Slice
from amaranth.hdl._ir import DriverConflict, Fragment
from amaranth.hdl._mem import MemoryInstance
from amaranth.lib.data import ShapeCastable
from amaranth.sim import _pyrtl, pysim
from amaranth.sim._async import (
    ChangedTrigger,
    EdgeTrigger,
    SampleTrigger,
    TestbenchContext,
    TickTrigger,
)

from hw.engine_code import faster, groups_of
from hw.engine_state import Edge, SignalState, State, Wait
from hw.limits import WaitedTooLong, where

__all__ = ["CYCLES", "Simulator"]

#: Cycles that a run has if its test names no other number: three times what most need.
CYCLES = 30_000
#: Rounds within which a circuit follows what has changed, testbenches that wait for it included.
ROUNDS = 1_000

# A layout of fields asks again and again.
Shape._cast_plain_enum = staticmethod(functools.cache(Shape._cast_plain_enum))


class _Compiler(_pyrtl._FragmentCompiler):
    """Makes processes, of each group of statements of a module that drives signals of its own."""

    def __call__(self, fragment):
        if isinstance(fragment, MemoryInstance):
            return super().__call__(fragment)
        processes = set()
        for domain, statements in fragment.statements.items():
            for group in groups_of(statements):
                part = Fragment()
                part.domains, part.statements = fragment.domains, {domain: group}
                processes |= super().__call__(part)
        for inner, _, _ in fragment.subfragments:
            processes |= self(inner)
        return processes



def _reader(state: State, value) -> Callable[[], int]:
    """Return what looks an expression up; only signals and parts of them are not evaluated."""
    if type(value) is Signal:
        return state.slots[state.get_signal(value)].read
    part, sign = value, 0
    if type(part) is Operator and part.operator == "s" and len(part.operands) == 1:
        part, sign = part.operands[0], 1 << (part.shape().width - 1)
    if type(part) is Slice and type(part.value) is Signal:
        slot, start = state.slots[state.get_signal(part.value)], part.start
        mask = (1 << part.stop - start) - 1
        if not sign:
            return lambda: slot.curr >> start & mask
        if sign == mask + 1 >> 1:
            return lambda: ((slot.curr >> start & mask) ^ sign) - sign
    return functools.partial(pysim.eval_value, state, value)


class _Sample(SampleTrigger):
    """What is sampled, and what looks it up."""

    def __init__(self, state: State, value):
        super().__init__(value)
        read = _reader(state, self.value)
        make = self.shape.from_bits if isinstance(self.shape, ShapeCastable) else None
        self.read = read if make is None else lambda: make(read())


class _Tick(TickTrigger):
    """As Amaranth's; what it takes to wait for a clock is found out once."""

    _engine: "_Engine"

    def __init__(self, engine, process, *, domain, sampled=()):
        super().__init__(engine, process, domain=domain, sampled=sampled)
        edge = engine.edge(domain)
        self.edge: Edge | None = edge
        if edge is not None:
            self.reads = (engine.sampled(Const(0) if domain.rst is None else domain.rst).read,
                          *(engine.sampled(expr).read for expr in sampled))

    def sample(self, *exprs):
        if self.edge is None:
            return super().sample(*exprs)
        tick = copy.copy(self)
        tick._sampled += exprs
        tick.reads += tuple(self._engine.sampled(expr).read for expr in exprs)
        return tick

    def _wait(self, once: bool) -> Wait:
        self._engine.follow()
        wait = Wait(self._process, self.reads, once)
        self.edge.waits.append(wait)
        return wait

    def __await__(self):
        return self._wait(True).__await__() if self.edge else super().__await__()

    async def __aiter__(self):
        if self.edge is None:
            async for values in super().__aiter__():
                yield values
        wait = self._wait(False)
        while True:
            yield await wait


class _Context(TestbenchContext):
    """As Amaranth's; signals that are numbers go a short way."""

    def __init__(self, design, engine, process):
        super().__init__(design, engine, process)
        self._ticks: dict[object, _Tick] = {}

    def get(self, expr):
        if type(expr) is Signal:
            self._engine.follow()
            return self._engine.slot(expr).curr
        return super().get(expr)

    def set(self, expr, value):
        if type(value) not in (int, bool) or type(expr) not in (Signal, Slice):
            super().set(expr, value)
            return
        slot = self._engine.given.get(id(expr))
        if slot is None:
            self._engine.set_value(expr, int(value))
        elif slot.next != value:
            slot.write(int(value))
        else:
            return
        self._engine.step_design()

    def tick(self, domain="sync", *, context=None):
        if context is not None:
            return super().tick(domain, context=context)
        if domain not in self._ticks:
            plain = super().tick(domain)
            self._ticks[domain] = _Tick(self._engine, self._process, domain=plain._domain)
        return self._ticks[domain]


class _Engine(pysim.PySimEngine):
    def __init__(self, design):
        state = State()

        def compiled(code, filename, mode):
            state.know(code)
            return compile(faster(code, state.slots), filename, mode)

        with (patch.object(pysim, "_PyEngineState", lambda: state),
              patch.object(pysim, "_FragmentCompiler", _Compiler),
              patch.multiple(_pyrtl, comb_waker=lambda process: (process,),
                             memory_waker=lambda process: (process,),
                             edge_waker=lambda process, polarity: (process, polarity)),
              patch.object(_pyrtl, "compile", compiled, create=True)):
            super().__init__(design)
        self._circuit, self._processes = self._processes, set()
        self._edges = [edge for slot in state.slots for edge in getattr(slot, "edges", ())]
        for edge in self._edges:
            edge.always = [process.run for process in edge.always]
            edge.processes = {process.run for process in edge.processes}
        for slot in state.slots:
            slot.followers[:] = [process.run for process in slot.followers]
            for pairs in (slot.readers, getattr(slot, "drivers", [])):
                pairs[:] = [(edge, process.run) for edge, process in pairs]
        self._ready = set()
        self._samples: dict[int, _Sample] = {}  # of signals, by their identity
        #: Signals that testbenches alone have set, no clocks, by their identity.
        self.given: dict[int, SignalState] = {}
        # A clock that the circuit makes must not rise with what it samples.
        self._at_once = any(slot.is_comb and slot.is_clock for slot in state.slots
                            if isinstance(slot, SignalState))
        self._start()

    def _start(self):
        self._settling = False
        self._ready.clear()
        self._ready.update(process.run for process in self._circuit if process.is_comb)
        for edge in self._edges:
            edge.waits.clear()
            edge.stale |= edge.processes

    def reset(self):
        super().reset()
        self._start()

    def add_async_testbench(self, simulator, process, *, background):
        def testbench(ctx):
            return process(_Context(self._design, self, ctx._process))

        super().add_async_testbench(simulator, testbench, background=background)

    def add_trigger_combination(self, combination, *, oneshot):
        self._settle()
        for trigger in combination._triggers:
            self._at_once |= isinstance(trigger, ChangedTrigger) or (
                isinstance(trigger, EdgeTrigger) and not
                self._state.slots[self._state.get_signal(trigger.signal)].is_clock)
        return pysim._PyTriggerState(self, combination, self._active_triggers, oneshot=oneshot)

    def edge(self, domain) -> Edge | None:
        """Return the edge of a domain's clock, where it has one and no reset that is another."""
        slot = self._state.slots[self._state.get_signal(domain.clk)]
        if not slot.is_clock or domain.async_reset and domain.rst is not None:
            return None
        return slot.edges[domain.clk_edge == "pos"]

    def sampled(self, expr) -> _Sample:
        """Return the trigger that samples an expression."""
        if type(expr) is not Signal:
            return _Sample(self._state, expr)
        if id(expr) not in self._samples:
            self._samples[id(expr)] = _Sample(self._state, expr)  # which keeps it
        return self._samples[id(expr)]

    def slot(self, signal: Signal) -> SignalState:
        """Return what a signal is."""
        return self._state.slots[self._state.get_signal(signal)]

    def follow(self) -> None:
        """Let the circuit follow what has been set, if anything has been."""
        if self._state.pending or self._ready or self._active_triggers:
            self._settle()

    def get_value(self, expr):
        self.follow()
        return _reader(self._state, expr if type(expr) is Signal else Value.cast(expr))()

    def set_value(self, expr, value):
        target = expr if type(expr) in (Signal, Slice) else Value.cast(expr)
        part = target if type(target) is Slice and type(target.value) is Signal else None
        if part is not None:
            target = part.value
        if type(target) is not Signal:
            super().set_value(target, value)
            return
        slot = self.slot(target)
        if part is not None:
            mask = (1 << part.stop) - (1 << part.start)
            value = slot.next & ~mask | value << part.start & mask
        if slot.is_comb:
            raise DriverConflict(f"{target.name} must be driven by testbenches alone")
        if slot.is_clock:
            self._settle()
        slot.write(value)
        if slot.is_clock:
            self._settle()
        elif part is None:
            self.given[id(target)] = slot

    def step_design(self):
        """What a testbench asks for when it has set a signal."""
        if self._at_once:
            self._settle()

    def _settle(self):
        """Let the circuit follow, until nothing changes."""
        pending, ready, triggers = self._state.pending, self._ready, self._active_triggers
        if self._settling or not (pending or ready or triggers):
            return
        self._settling, edges = True, []
        for _ in range(ROUNDS):
            for trigger in triggers:
                trigger.run()
            triggers.clear()
            for run in ready:
                run()
            ready.clear()
            for process in self._processes:
                if process.runnable:
                    process.runnable = False
                    process.run()
            if not pending:
                break
            for slot in pending:
                if type(slot) is SignalState:
                    before, now = slot.curr, slot.next
                    if before == now:
                        continue
                    if slot.wakers:
                        pysim._run_wakers(slot.wakers, before, now)
                    if slot.is_clock and now in (0, 1):
                        edges.append(slot.edges[now])
                    slot.curr = now
                elif not slot.commit():
                    continue
                ready.update(slot.followers)
                for edge, process in slot.readers:
                    edge.stale.add(process)
            pending.clear()
            for edge in edges:  # whose processes see what has changed with it
                ready.update(edge.always)
                ready.update(edge.stale)
                edge.stale.clear()
                waits, edge.waits = edge.waits, []
                for wait in waits:
                    wait.broken = wait.process.waits_on is not wait
                    if not wait.broken:
                        triggers.add(wait)
                        if not wait.once:
                            edge.waits.append(wait)
            edges.clear()
        else:
            for run in ready:
                run()
            names = sorted(slot.signal.name for slot in pending if type(slot) is SignalState)
            raise WaitedTooLong(f"a circuit must settle within {ROUNDS} rounds, but these signals "
                                f"go on: {', '.join(names)}")
        self._settling = False

    def advance(self):
        for process in self._processes:
            if process.runnable:
                process.runnable = False
                process.run()
        self.follow()
        for _ in range(ROUNDS):
            ran = False
            for testbench in self._testbenches:
                if testbench.runnable:
                    testbench.runnable, ran = False, True
                    testbench.run()
                    self.follow()
            if not ran:
                break
        else:
            self.give_up(f"come to wait for a clock within {ROUNDS} rounds")
        self._state.timeline.advance()
        for runnables in (self._testbenches, self._processes):
            for runnable in runnables:
                if runnable.critical:
                    return True
        return False

    def give_up(self, limit: str) -> NoReturn:
        """End the testbenches without which a run does not end, and raise `WaitedTooLong`, which
        says where they were.
        """
        left = [each for each in self._testbenches if each.critical]
        error = WaitedTooLong(
            f"testbenches must {limit}, but wait here:\n"
            + "\n".join(where(each.coroutine) for each in left))
        for each in left:
            with contextlib.suppress(WaitedTooLong, StopIteration):
                each.coroutine.throw(error)
        raise error


class Simulator(amaranth.sim.Simulator):
    """As Amaranth's, without waveforms."""

    _engine: _Engine

    def __init__(self, toplevel):
        super().__init__(toplevel, engine=_Engine)

    def run(self, cycles: int = CYCLES):
        """Run until the testbenches have ended; `WaitedTooLong` if more ``cycles`` pass."""
        for _ in range(2 * cycles):
            if not self.advance():
                return
        self._engine.give_up(f"end within {cycles} cycles")
