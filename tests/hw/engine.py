"""Amaranth's simulator, at a third of the time: it does what Amaranth's own engine does, and runs
the same code of each process, but

- knows which processes are to run, instead of asking each of them after each change,
- lets a testbench set several signals before the circuit follows: nothing looks before the
  testbench reads one, waits or ends (where something would see what they were in between, an edge
  of a clock or a testbench that waits for changes, it follows each of them),
- writes to signals without a call, and remembers what shape an enumeration has,
- finds out once where what a testbench samples is, not each time that it does.
"""

import functools
import re
from collections.abc import Callable
from typing import Any
from unittest.mock import patch

import amaranth.sim
from amaranth.hdl import Shape, Signal, Value
from amaranth.hdl._ast import Operator, Slice
from amaranth.hdl._ir import DriverConflict
from amaranth.lib.data import ShapeCastable
from amaranth.sim import _pyrtl, pysim
from amaranth.sim._async import (
    ChangedTrigger,
    EdgeTrigger,
    SampleTrigger,
    TestbenchContext,
    TickTrigger,
    TriggerCombination,
)

__all__ = ["Simulator"]

# A layout of fields asks again and again.
Shape._cast_plain_enum = staticmethod(functools.cache(Shape._cast_plain_enum))


class _Signal(pysim._PySignalState):
    """A signal, and the processes that run when it changes, rises, falls."""

    __slots__ = ("edges", "followers", "is_clock", "mask", "sign")

    def __init__(self, signal, pending):
        super().__init__(signal, pending)
        self.followers, self.edges, self.is_clock = [], ([], []), False
        shape = signal.shape()
        self.mask = (1 << shape.width) - 1
        self.sign = 1 << (shape.width - 1) if shape.signed and shape.width else 0

    def read(self) -> int:
        """Return its value."""
        return self.curr

    def write(self, value: int) -> None:
        """Set it."""
        value &= self.mask
        if value & self.sign:
            value |= ~self.mask
        if self.next != value:
            self.next = value
            self.pending.add(self)


class _Memory(pysim._PyMemoryState):
    """A memory, and the processes that run when it is written."""

    __slots__ = ("followers",)

    def __init__(self, memory, pending):
        super().__init__(memory, pending)
        self.followers = []


class _State(pysim._PyEngineState):
    def __init__(self):
        super().__init__()
        self._numbers: dict[int, int] = {}  # of slots, by the identity of what they are for

    def _slot(self, key, kind):
        number = self._numbers.get(id(key))
        if number is None:
            number = self._numbers[id(key)] = len(self.slots)
            self.slots.append(kind(key, self.pending))  # which keeps it, and so its identity
        return number

    def get_signal(self, signal):
        return self._slot(signal, _Signal)

    def get_memory(self, memory):
        return self._slot(memory, _Memory)

    def add_signal_waker(self, signal, waker):
        slot = self.slots[self.get_signal(signal)]
        if not isinstance(waker, tuple):
            slot.add_waker(waker)
        elif len(waker) == 1:
            slot.followers.append(*waker)
        else:
            process, polarity = waker
            slot.edges[polarity].append(process)
            slot.is_clock = True

    def add_memory_waker(self, memory, waker):
        self.slots[self.get_memory(memory)].followers.append(*waker)


def _shorter(code: str, slots: list[Any]) -> str:
    """Return the code of a process without masks of what has no other bits, of masks, and without
    calls that spread a sign.
    """
    def whole(match):
        """A signal, where the mask (and the sign) is its own."""
        number, mask = int(match["slot"]), int(match["mask"], 16)
        shape = slots[number].signal.shape()
        sign = mask + 1 >> 1 if shape.signed else 0
        same = mask == (1 << shape.width) - 1 and sign == int(match["sign"] or "0", 16)
        return f"slots[{number}].curr" if same else match[0]

    masked = r"\(0x(?P<mask>[0-9a-f]+) & slots\[(?P<slot>\d+)\]\.curr\)"
    code = re.sub(rf"sign\({masked}, -0x(?P<sign>[0-9a-f]+)\)", whole, code)
    code = re.sub(rf"{masked}(?P<sign>)", whole, code)
    code = code.replace("sign((", "(((")
    code = re.sub(r"\), -(0x[0-9a-f]+)\)", r") ^ \1) - \1)", code)
    code = re.sub(r"^( *next_\d+ = )sign\((.*), -(\d+)\)$", r"\1((\2) ^ \3) - \3", code,
                  flags=re.MULTILINE)
    code = code.replace(" >> 0)", ")").replace(" << 0)", ")")
    code = re.sub(r"\(0x([0-9a-f]+) & (-?\d+)\)",
                  lambda match: str(int(match[1], 16) & int(match[2])), code)
    merged = 1
    while merged:  # of three masks within each other two go at first
        code, merged = re.subn(r"0x([0-9a-f]+) & \(0x([0-9a-f]+) & ", lambda match: (
            f"{int(match[1], 16) & int(match[2], 16):#x} & ("), code)
    return code


def _faster(code: str, slots: list[Any]) -> str:
    """Return the code of a process with names for signals, which it writes where they change."""
    code = _shorter(code, slots)

    def write(match):
        indent, number, mask = match[1], int(match[2]), int(match[3])
        signal = slots[number].signal
        # Others write the rest of it.
        rest = "" if mask == (-1 if signal.shape().signed else (1 << len(signal)) - 1) else (
            f"{indent}next_{number} = slots[{number}].next & {~mask} | next_{number} & {mask}\n")
        return (f"{rest}{indent}if slots[{number}].next != next_{number}: "
                f"slots[{number}].next = next_{number}; pending(slots[{number}])")

    code = re.sub(r"^( *)slots\[(\d+)\]\.update\(next_\2, (-?\d+)\)$", write, code,
                  flags=re.MULTILINE)
    code = re.sub(r"(slots\[\d+\]\.write\(\w+, \w+, (\w+)\))", r"if \2: \1", code)
    numbers = sorted(set(re.findall(r"slots\[(\d+)\]", code)))
    names = "".join(f"slot_{number} = slots[{number}]\n" for number in numbers)
    return ("pending = slots[0].pending.add\n" if numbers else "") + names + re.sub(
        r"slots\[(\d+)\]", r"slot_\1", code)


def _reader(state: _State, value) -> Callable[[], int]:
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

    def __init__(self, state: _State, value):
        super().__init__(value)
        self.read = _reader(state, self.value)
        self.made = self.shape.from_bits if isinstance(self.shape, ShapeCastable) else None


class _Triggers(pysim._PyTriggerState):
    def compute_result(self):
        result = []
        for trigger in self._combination._triggers:
            if type(trigger) is _Sample:
                bits = trigger.read()
                result.append(bits if trigger.made is None else trigger.made(bits))
            elif isinstance(trigger, SampleTrigger | ChangedTrigger):
                value = self._engine.get_value(trigger.value)
                result.append(trigger.shape.from_bits(value)
                              if isinstance(trigger.shape, ShapeCastable) else value)
            else:
                result.append(trigger in self._triggers_hit)
        self._result = tuple(result)


class _Tick(TickTrigger):
    """As Amaranth's; what all waits for a clock have in common is made once."""

    _common: TriggerCombination

    def sample(self, *exprs):
        tick = _Tick(self._engine, self._process, domain=self._domain,
                     sampled=(*self._sampled, *exprs))
        tick._common = self._common
        return tick

    def _collect_trigger(self):
        if not self._sampled:
            return self._common
        return TriggerCombination(self._engine, self._process, triggers=(
            *self._common._triggers, *map(self._engine.sampled, self._sampled)))


class _Context(TestbenchContext):
    """As Amaranth's; signals that are numbers go a short way."""

    def __init__(self, design, engine, process):
        super().__init__(design, engine, process)
        self._ticks: dict[object, _Tick] = {}

    def get(self, expr):
        if type(expr) is Signal:
            return self._engine.get_value(expr)
        return super().get(expr)

    def set(self, expr, value):
        if type(expr) is Signal and type(value) in (int, bool):
            self._engine.set_value(expr, int(value))
            self._engine.step_design()
        else:
            super().set(expr, value)

    def tick(self, domain="sync", *, context=None):
        if context is not None:
            return super().tick(domain, context=context)
        if domain not in self._ticks:
            plain = super().tick(domain)
            tick = _Tick(self._engine, self._process, domain=plain._domain)
            tick._common = plain._collect_trigger()
            self._ticks[domain] = tick
        return self._ticks[domain]


class _Engine(pysim.PySimEngine):
    def __init__(self, design):
        state = _State()

        def compiled(code, filename, mode):
            return compile(_faster(code, state.slots), filename, mode)

        with (patch.object(pysim, "_PyEngineState", lambda: state),
              patch.multiple(_pyrtl, comb_waker=lambda process: (process,),
                             memory_waker=lambda process: (process,),
                             edge_waker=lambda process, polarity: (process, polarity)),
              patch.object(_pyrtl, "compile", compiled, create=True)):
            super().__init__(design)
        self._circuit, self._processes = self._processes, set()
        for slot in state.slots:
            for processes in (slot.followers, *getattr(slot, "edges", ())):
                processes[:] = [process.run for process in processes]
        self._ready = set()
        self._settling = False
        self._samples: dict[int, _Sample] = {}  # of signals, by their identity
        # A clock that the circuit makes must not rise with what it samples.
        self._at_once = any(slot.is_comb and slot.is_clock for slot in state.slots
                            if isinstance(slot, _Signal))
        self._start()

    def _start(self):
        self._ready.clear()
        self._ready.update(process.run for process in self._circuit if process.is_comb)

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
        return _Triggers(self, combination, self._active_triggers, oneshot=oneshot)

    def sampled(self, expr) -> _Sample:
        """Return the trigger that samples an expression."""
        if type(expr) is not Signal:
            return _Sample(self._state, expr)
        if id(expr) not in self._samples:
            self._samples[id(expr)] = _Sample(self._state, expr)  # which keeps it
        return self._samples[id(expr)]

    def get_value(self, expr):
        self._settle()
        return _reader(self._state, expr if type(expr) is Signal else Value.cast(expr))()

    def set_value(self, expr, value):
        target = expr if type(expr) is Signal else Value.cast(expr)
        if type(target) is not Signal:
            super().set_value(target, value)
            return
        slot = self._state.slots[self._state.get_signal(target)]
        if slot.is_comb:
            raise DriverConflict(f"{target.name} must be driven by testbenches alone")
        if slot.is_clock:
            self._settle()
        slot.write(value)
        if slot.is_clock:
            self._settle()

    def step_design(self):
        """What a testbench asks for when it has set a signal."""
        if self._at_once:
            self._settle()

    def _settle(self):
        """Let the circuit follow, until nothing changes."""
        pending, ready, triggers = self._state.pending, self._ready, self._active_triggers
        if self._settling or not (pending or ready or triggers):
            return
        self._settling = True
        while True:
            for trigger in triggers:
                trigger.run()
            triggers.clear()
            for run in ready:
                run()
            ready.clear()
            self._run(self._processes)
            if not pending:
                break
            for slot in pending:
                if type(slot) is _Signal:
                    before, now = slot.curr, slot.next
                    if before != now:
                        if slot.wakers:
                            pysim._run_wakers(slot.wakers, before, now)
                        ready.update(slot.followers)
                        if slot.is_clock and now in (0, 1):
                            ready.update(slot.edges[now])
                        slot.curr = now
                else:
                    slot.commit()
                    ready.update(slot.followers)
            pending.clear()
        self._settling = False

    @staticmethod
    def _run(processes):
        """Run those that are to run, of testbenches and what a test adds; return whether any."""
        found = False
        for process in processes:
            if process.runnable:
                process.runnable, found = False, True
                process.run()
        return found

    def advance(self):
        self._run(self._processes)
        self._settle()
        while True:
            ran = False
            for testbench in self._testbenches:
                if testbench.runnable:
                    testbench.runnable, ran = False, True
                    testbench.run()
                    self._settle()
            if not ran:
                break
        self._state.timeline.advance()
        return any(runnable.critical for runnables in (self._processes, self._testbenches)
                   for runnable in runnables)


class Simulator(amaranth.sim.Simulator):
    """As Amaranth's, without waveforms."""

    def __init__(self, toplevel):
        super().__init__(toplevel, engine=_Engine)
