"""What a profile says: ten lines for people, and all of it as data."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from celosia.arch.words import ceil_div
from celosia.profile.energy import counts, energy
from celosia.profile.lines import LineCost
from celosia.profile.profile import Profile

__all__ = ["MEGAHERTZ", "facts", "text"]

#: Of the clock in which cycles are said as time, where nobody says another.
MEGAHERTZ = 100
_MOST_LINES, _MOST_OPERATIONS = 5, 2
#: A line with more of the cycles is shown by its operations.
_WHOLE = 0.6
_MAKERS = {"model": "model", "rtl": "RTL"}
#: What the bound is called, by what is at work on the critical path.
_BOUNDS = {"mxu": "the array", "vpu": "the vector unit", "load": "loads from memory",
           "store": "stores to memory", "scalar": "the scalar unit",
           "fetch": "the fetch of instructions", "check": "the checker of instructions",
           "window": "the window of the scoreboard", "bus": "the bus"}


def facts(profile: Profile) -> dict[str, Any]:
    """Return the profile as a dictionary that the module ``json`` can write.

    ``lines`` add up to ``cycles``; ``critical`` are the cycles of the critical path by what was at
    work in them; ``findings`` have the cycles of their what-if runs.
    """
    config = profile.config
    macs = sum(work.macs for work in profile.compiled.works)
    busy: Counter[str] = Counter()
    found: Counter[str] = Counter()
    for record in profile.records:
        busy.update(record.prediction.busy)
        found.update(counts(record))
    return {
        "name": profile.name, "config": config.name, "fingerprint": f"{config.fingerprint:#010x}",
        "made_by": next((record.made_by for record in profile.records), "model"),
        "cycles": profile.cycles, "host_steps": profile.hosts,
        "instructions": sum(record.prediction.instructions for record in profile.records),
        "ideal_cycles": ceil_div(macs, config.pes), "busy": dict(busy),
        "bytes_read": sum(record.prediction.bytes_read for record in profile.records),
        "bytes_written": sum(record.prediction.bytes_written for record in profile.records),
        "counts": dict(found), "energy": energy(found, config),
        "critical": dict(profile.critical), "bound": _bound(profile.critical),
        "lines": [_line(line) for line in profile.lines],
        "findings": [{"kind": each.kind, "what": each.what, "try": each.attempt,
                      "place": each.place, "cycles": each.cycles, "gain": each.gain}
                     for each in profile.findings],
    }


def _bound(critical: Mapping[str, int]) -> str:
    return max(critical, key=lambda name: critical[name]) if critical else ""


def _line(line: LineCost) -> dict[str, Any]:
    return {"place": line.place, "callers": list(line.callers), "cycles": line.cycles,
            "operations": dict(line.operations), "parts": dict(line.parts.most_common()),
            "busy": dict(line.busy), "waits": dict(line.waits.most_common())}


def text(known: Mapping[str, Any], *, megahertz: float = MEGAHERTZ) -> str:
    """Return the `facts` in about ten lines."""
    cycles = known["cycles"]
    milliseconds = cycles / megahertz / 1e3
    needs = (f"; the array needs {known['ideal_cycles']:,} of them "
             f"({known['ideal_cycles'] / cycles:.1%})" if known["ideal_cycles"] and cycles else "")
    host = (f", in {known['host_steps']} step{'s' * (known['host_steps'] > 1)} of the host"
            if known["host_steps"] else "")
    bound = known["bound"]
    lines = [
        f"{known['name']} on {known['config']}, cycles of the {_MAKERS[known['made_by']]}{host}",
        f"{cycles:,} cycles, {milliseconds:,.2f} ms at {megahertz:g} MHz{needs}",
    ]
    if bound:
        lines[-1] += (f"; bound by {_BOUNDS[bound]} "
                      f"({known['critical'][bound] / cycles:.1%} of the critical path)")
    rows = known["lines"][:_MOST_LINES]
    width = max((len(row["place"]) for row in rows), default=0)
    for row in rows:
        lines.append(f"{row['cycles'] / max(cycles, 1):6.1%}  {row['cycles']:>13,}  "
                     f"{row['place']:<{width}}  {_work(row)}")
        if row["cycles"] > _WHOLE * cycles and len(row["parts"]) > 1:
            parts = sorted(row["parts"].items(), key=lambda part: -part[1])
            lines += [f"{part / cycles:6.1%}  {part:>13,}    {name}"
                      for name, part in parts[:_MOST_LINES]]
    rest = known["lines"][_MOST_LINES:]
    if rest:
        left = sum(row["cycles"] for row in rest)
        lines.append(f"{left / max(cycles, 1):6.1%}  {left:>13,}  {len(rest)} more "
                     f"line{'s' * (len(rest) > 1)}")
    for number, each in enumerate(known["findings"], 1):
        at = f" at {each['place']}" if each["place"] else ""
        lines.append(f"{number}. {each['gain']:,} cycles ({each['gain'] / max(cycles, 1):.1%}): "
                     f"{each['what']}{at}")
        lines.append(f"   try: {each['try']} -> {each['cycles']:,} cycles")
    if not known["findings"]:
        lines.append("nothing found that would gain 0.5 % of the cycles")
    if cycles:
        lines.append(_energy(known["energy"]))
    return "\n".join(lines) + "\n"


def _energy(known: Sequence[Mapping[str, Any]]) -> str:
    """Say what a run takes by published tables, and whether they agree on where."""
    said = "; ".join(f"{each['joules'] * 1e3:.3g} mJ by {each['table']}" for each in known)
    orders = [sorted(each["parts"], key=lambda name: -each["parts"][name])[:3] for each in known]
    first = known[0]
    share = ", ".join(f"{name} {first['parts'][name] / first['joules']:.0%}" for name in orders[0])
    agree = "by both in this order" if all(order == orders[0] for order in orders) else (
        "by the first; by the second " + ", ".join(orders[-1]))
    return f"energy of such operations, published, not measured here: {said}; {share}, {agree}"


def _work(row: Mapping[str, Any]) -> str:
    """Say what a line does, how much of its cycles the array works, and what that waits for."""
    names = Counter(row["operations"]).most_common()
    said = [", ".join(name for name, _ in names[:_MOST_OPERATIONS])
            + (f" and {len(names) - _MOST_OPERATIONS} more" if len(names) > _MOST_OPERATIONS
               else "")]
    cycles = row["cycles"]
    if row["busy"].get("mxu") and cycles:
        said.append(f"array {min(row['busy']['mxu'] / cycles, 1):.0%}")
    waits = {name: count for name, count in row["waits"].items()
             if name.startswith("mxu") and count > cycles / 100}
    if waits:
        said.append(max(waits, key=lambda name: waits[name]).replace("mxu waits", "it waits"))
    return ", ".join(said)
