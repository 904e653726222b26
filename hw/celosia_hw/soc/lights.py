"""The lights that every board has."""

from amaranth.hdl import Module, Signal, Value

__all__ = ["add_lights"]

#: A light goes on for this part of a second; the heartbeat changes as often.
_LIGHT_PART = 4


def add_lights(m: Module, clock_hz: int, active: Value, heartbeat: Signal, busy: Signal) -> None:
    """Let ``heartbeat`` change at once and then four times a second, and ``busy`` be high for up to
    half a second after a cycle with ``active``.
    """
    quarter = max(2, clock_hz // _LIGHT_PART)
    beat, lights = Signal(range(quarter)), Signal(2)
    turn = Signal(init=1)
    m.d.comb += busy.eq(lights.any())
    m.d.sync += [beat.eq(beat + 1), turn.eq(0)]
    with m.If(beat == quarter - 1):
        m.d.sync += [beat.eq(0), turn.eq(1)]
    with m.If(turn):
        m.d.sync += [heartbeat.eq(~heartbeat), lights.eq(lights >> 1)]
    with m.If(active):
        m.d.sync += lights.eq(2)
