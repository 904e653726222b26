"""What the simulator of the tests makes of a module: processes, and their code."""

import re
from typing import Any

from amaranth.hdl._ast import _StatementList

__all__ = ["faster", "groups_of"]


def groups_of(statements) -> list[_StatementList]:
    """Return statements that drive no signal of another group's, each in their order."""
    groups: list[tuple[set[int], list[int]]] = []  # signals, by identity; numbers of statements
    for number, statement in enumerate(statements):
        signals, numbers = {id(signal) for signal in statement._lhs_signals()}, [number]
        for group in [group for group in groups if not signals.isdisjoint(group[0])]:
            groups.remove(group)
            signals |= group[0]
            numbers += group[1]
        groups.append((signals, numbers))
    return [_StatementList(statements[number] for number in sorted(numbers))
            for _, numbers in groups]


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


def faster(code: str, slots: list[Any]) -> str:
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
