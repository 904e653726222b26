"""The probe of a simulated chip, as data: what its units do in a cycle, in one word."""

from __future__ import annotations

from dataclasses import dataclass

from celosia.arch.registers import PORTS, UNIT_NAMES

__all__ = ["BY_NAME", "FIELDS", "PROBE_BITS", "STATES", "ProbeField"]

PROBE_BITS = 64


@dataclass(frozen=True)
class ProbeField:
    """Bits ``first`` to ``first + bits - 1`` of the word."""

    name: str
    first: int
    bits: int
    doc: str

    @property
    def mask(self) -> int:
        """Its bits in the word."""
        return (1 << self.bits) - 1 << self.first


def _fields() -> tuple[ProbeField, ...]:
    rows: list[ProbeField] = []

    def add(name: str, bits: int, doc: str) -> None:
        rows.append(ProbeField(name, rows[-1].first + rows[-1].bits if rows else 0, bits, doc))

    add("running", 1, "a program runs: the cycle counts")
    add("retired", 1, "an instruction was executed or handed to the checker")
    add("read_beat", 1, "a beat was read from external memory, in the cycle before")
    add("write_beat", 1, "a beat was written to external memory, in the cycle before")
    for unit in UNIT_NAMES:
        add(f"{unit}_activity", 3, f"what the {unit} unit does, of `Activity`")
    for unit in UNIT_NAMES[:-1]:
        add(f"{unit}_take", 1, f"the {unit} unit takes its next instruction")
    for unit in UNIT_NAMES[:-1]:
        add(f"{unit}_done", 1, f"the oldest instruction of the {unit} unit has finished")
    for port in PORTS:
        add(f"conflicts_{port}", 1, f"port {port} waits for a bank")
    add("pc", PROBE_BITS - rows[-1].first - rows[-1].bits,
        "low bits of the index of the instruction that is executed")
    return tuple(rows)


FIELDS: tuple[ProbeField, ...] = _fields()
BY_NAME: dict[str, ProbeField] = {field.name: field for field in FIELDS}
#: All bits but the pc, which changes with nearly every cycle of the scalar unit.
STATES = sum(field.mask for field in FIELDS if field.name != "pc")
