"""What a compiled program is expected to do and cost, before it runs."""

from __future__ import annotations

import textwrap
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from celosia.arch.config import TpuConfig
from celosia.arch.isa import INSTRUCTION_BYTES
from celosia.arch.words import ceil_div
from celosia.compiled.description import Description
from celosia.compiled.expected import decisions
from celosia.compiled.parts import Argument, WorkInfo
from celosia.compiled.steps import ChipStep
from celosia.graph import Source

if TYPE_CHECKING:
    from celosia.model.timing.predict import Prediction

__all__ = ["facts", "roofline", "text"]

_MEMORIES = {"external": "external memory", "ub": "unified buffer", "acc": "accumulators"}
#: Kinds of operations named in a line of the text, and the characters of a line that is wrapped.
_MOST_NAMES, _WIDTH = 6, 110
#: Pairs of operations that a reason for not fusing is shown of.
_MOST_PAIRS = 3
#: Stands for a space where no line may end.
_TOGETHER = "\x1f"


def roofline(config: TpuConfig, works: tuple[WorkInfo, ...]) -> dict[str, int]:
    """Return the cycles that each part of the chip needs at least, by its name.

    The array forms D * D products a cycle, the vector unit goes through a row a cycle, memory
    moves ``bus_bytes`` a cycle each way.
    """
    read = sum(work.bytes_read for work in works)
    written = sum(work.bytes for work in works) - read
    return {
        "array": ceil_div(sum(work.macs for work in works), config.pes),
        "vector": sum(work.vector_rows for work in works),
        "memory": ceil_div(max(read, written), config.bus_bytes),
    }


def _shares(step: ChipStep, config: TpuConfig, prediction: Prediction) -> list[int]:
    """Return the cycles that are expected of each piece of work.

    Those of a source that several pieces share are dealt out as their rooflines are.
    """
    weights = [max(roofline(config, (work,)).values()) + 1 for work in step.works]
    owners: defaultdict[str, list[int]] = defaultdict(list)
    for number, work in enumerate(step.works):
        for source in dict.fromkeys((work.source, *work.origins)):
            owners[source].append(number)
    shares = [0] * len(step.works)
    for source, cycles in prediction.by_source.items():
        all, done, given = sum(weights[number] for number in owners[source]), 0, 0
        for number in owners[source]:
            # Differences of running sums, so that nothing is lost in rounding.
            done += weights[number]
            shares[number] += cycles * done // all - given
            given = cycles * done // all
    return shares


def _work(config: TpuConfig, work: WorkInfo, cycles: int) -> dict[str, Any]:
    limits = roofline(config, (work,))
    bound = max(limits, key=lambda name: limits[name])
    return {
        "kind": work.kind, "operations": list(work.operations), "source": _short(work.source),
        "where": work.where, "reason": work.reason, "cycles": cycles,
        "ideal_cycles": limits[bound], "bound": bound if limits[bound] else "",
        "macs": work.macs, "vector_rows": work.vector_rows, "bytes": work.bytes,
        "utilisation": _ratio(work.macs, cycles * config.pes),
    }


def _short(source: str) -> str:
    """Return an instruction's source without the callers."""
    operation, place = Source.parse(source)
    return place.said(operation)


def _named(arguments: tuple[Argument, ...]) -> list[list[str]]:
    return [[each.label or each.name, str(each.type)] for each in arguments]


def _ratio(part: float, whole: float) -> float:
    return part / whole if whole else 0.0


def _head(compiled: Description, inputs: tuple[Argument, ...],
          outputs: tuple[Argument, ...]) -> dict[str, Any]:
    return {"name": compiled.name, "config": compiled.config.name,
            "fingerprint": f"{compiled.config.fingerprint:#010x}",
            "inputs": _named(inputs), "outputs": _named(outputs)}


def facts(compiled: Description) -> dict[str, Any]:
    """Return the report as a dictionary that the module ``json`` can write.

    Of a step of the chip: ``cycles`` are expected (`celosia.compiled.expected`), ``ideal_cycles``
    the least that one part of the chip, the ``bound``, allows; ``utilisation`` is the share of the
    array's products that the program needs. A program that is not one step of the chip has a list
    of ``steps``, each with ``where`` it runs.
    """
    if compiled.on_chip is not None:
        return {**_head(compiled, compiled.inputs, compiled.outputs),
                **_on_chip(compiled.on_chip, compiled.config, compiled.prediction)}
    steps = []
    for step, prediction in zip(compiled.steps, compiled.predictions, strict=True):
        if isinstance(step, ChipStep):
            assert prediction is not None
            steps.append({"where": step.where, **_head(compiled, step.inputs, step.outputs),
                          **_on_chip(step, compiled.config, prediction)})
        else:
            steps.append({"where": step.where,
                          "works": [_work(compiled.config, work, 0) for work in step.works]})
    return {**_head(compiled, compiled.inputs, compiled.outputs),
            "cycles": sum(step.get("cycles", 0) for step in steps), "steps": steps}


def _on_chip(step: ChipStep, config: TpuConfig, prediction: Prediction) -> dict[str, Any]:
    """Return what is known of a step of the chip, but for what `_head` says."""
    program = step.program
    works = [_work(config, work, cycles)
             for work, cycles in zip(step.works, _shares(step, config, prediction), strict=True)]
    limits = roofline(config, step.works)
    bound = max(limits, key=lambda name: limits[name])
    macs = sum(work.macs for work in step.works)
    order = list(_MEMORIES)
    places = sorted(step.places, key=lambda place: (order.index(place.memory), place.first))
    return {
        "instructions": len(program.insns), "arena_bytes": program.arena_bytes,
        "depends_on_data": bool(decisions(program)),
        "cycles": prediction.cycles, "ideal_cycles": limits[bound], "bound": bound,
        "roofline": limits, "utilisation": _ratio(macs, prediction.cycles * config.pes),
        "macs": macs, "bytes": sum(work.bytes for work in step.works),
        "other_cycles": prediction.cycles - sum(work["cycles"] for work in works),
        "busy": {unit: _ratio(cycles, prediction.cycles)
                 for unit, cycles in prediction.busy.items()},
        "works": works, "proofs": list(step.proofs),
        "apart": [[_short(each.producer), _short(each.consumer),
                   each.reason] for each in step.apart],
        "memory": [{"name": place.name, "type": str(place.type), "memory": place.memory,
                    "first": place.first, "size": place.size} for place in places],
    }


def text(known: Mapping[str, Any], config: TpuConfig) -> str:
    """Return a report for people: lines from the `facts`, for a chip."""
    if "steps" in known:
        return "\n".join((
            f"{known['name']}, for {known['config']} and the host, in {len(known['steps'])} steps",
            *_rows([("takes", _types(known["inputs"])), ("gives", _types(known["outputs"])),
                    ("expected", f"{known['cycles']:,} cycles of the chip")]),
            *(f"\nstep {i + 1}: {_step(step, config)}".rstrip()
              for i, step in enumerate(known["steps"])))) + "\n"
    limits = ", ".join(f"{name} {cycles:,}" for name, cycles in known["roofline"].items())
    busy = ", ".join(f"{unit} {share:.1%}" for unit, share in known["busy"].items())
    size = known["instructions"] * INSTRUCTION_BYTES
    used = f"the array used to {known['utilisation']:.1%}"
    once = " (loops that depend on data once)" if known["depends_on_data"] else ""
    rows = [
        ("takes", _types(known["inputs"])),
        ("gives", _types(known["outputs"])),
        ("instructions", f"{known['instructions']:,} ({size:,} bytes)"),
        ("expected", f"{known['cycles']:,} cycles{once}, {used}"),
        ("at best", f"{known['ideal_cycles']:,} cycles, bound by the {known['bound']} ({limits})"),
        ("busy", busy or "-"),
    ]
    title = (f"{known['name']}, for {known['config']} ({config.dim}x{config.dim} array, "
             f"{config.bus_bytes} bytes a cycle to memory)")
    lines = [title, *_rows(rows), "", *_works(known), "", *_proofs(known),
             *_apart(known), *_memory(known, config)]
    return "\n".join(line.rstrip() for line in lines) + "\n"


def _types(arguments: list[list[str]]) -> str:
    return ", ".join(f"{name}{_TOGETHER}{type}" for name, type in arguments) or "nothing"


def _rows(rows: list[tuple[str, str]]) -> Iterator[str]:
    for name, value in rows:
        for line in textwrap.wrap(value, _WIDTH, initial_indent=f"{name:<14}",
                                  subsequent_indent=" " * 14, break_long_words=False,
                                  break_on_hyphens=False):
            yield line.replace(_TOGETHER, " ")


def _step(step: Mapping[str, Any], config: TpuConfig) -> str:
    if step["where"] == "chip":
        return text(step, config)
    where = {"link": "among devices", "call": "functions of the host"}.get(
        step["where"], "on the host")
    return "\n".join([where, *(
        f"  {work['kind']}: {work['reason']}; {work['source']}" for work in step["works"])])


def _names(operations: list[str]) -> str:
    """Name operations and how often they are there, first come first named."""
    counts = Counter(operations)
    names = [name if count == 1 else f"{count} {name}" for name, count in counts.items()]
    more = len(names) - _MOST_NAMES
    return ", ".join(names[:_MOST_NAMES]) + (f" and {more} more" if more > 0 else "")


def _works(known: Mapping[str, Any]) -> list[str]:
    head = ("work", "where", "cycles", "share", "at best", "bound", "array", "bytes", "operations")
    rows: list[tuple[str, ...]] = [head]
    for work in known["works"]:
        rows.append((work["kind"], work["where"], f"{work['cycles']:,}",
                     f"{_ratio(work['cycles'], known['cycles']):.1%}",
                     f"{work['ideal_cycles']:,}", work["bound"], f"{work['utilisation']:.1%}",
                     f"{work['bytes']:,}", _names(work["operations"])))
    other = known["other_cycles"]
    rows.append(("(start, end)", "", f"{other:,}", f"{_ratio(other, known['cycles']):.1%}",
                 "", "", "", "", ""))
    left = (0, 1, 5, 8)
    widths = [max(len(row[i]) for row in rows) for i in range(len(head))]
    lines = ["  ".join(f"{cell:<{width}}" if i in left else f"{cell:>{width}}"
                       for i, (cell, width) in enumerate(zip(row, widths, strict=True)))
             for row in rows]
    # The second line of each piece of work says why it is there and whose it is.
    for i in range(len(known["works"]), 0, -1):
        work = known["works"][i - 1]
        notes = "; ".join(part for part in (work["reason"], work["source"]) if part)
        if notes:
            lines.insert(i + 1, f"    {notes}")
    return lines


def _proofs(known: Mapping[str, Any]) -> list[str]:
    if not known["proofs"]:
        return []
    lines = ["short forms that keep the bound"]
    for proof in known["proofs"]:
        lines += textwrap.wrap(proof, _WIDTH, initial_indent="  ", subsequent_indent="    ",
                               break_long_words=False, break_on_hyphens=False)
    return [*lines, ""]


def _apart(known: Mapping[str, Any]) -> list[str]:
    """Say what does not run together, a paragraph for each reason, the most frequent first."""
    pairs: defaultdict[str, list[str]] = defaultdict(list)
    for producer, consumer, reason in known["apart"]:
        pairs[reason].append(f"{producer} with {consumer}")
    lines = []
    for reason, found in sorted(pairs.items(), key=lambda item: -len(item[1])):
        more = len(found) - _MOST_PAIRS
        shown = "; ".join(found[:_MOST_PAIRS]) + (f"; and {more} more" if more > 0 else "")
        lines += textwrap.wrap(f"{reason}: {shown}", _WIDTH, initial_indent="  ",
                               subsequent_indent="    ", break_long_words=False,
                               break_on_hyphens=False)
    return ["not fused", *lines, ""] if lines else []


def _memory(known: Mapping[str, Any], config: TpuConfig) -> list[str]:
    sizes = {"external": f"an arena of {known['arena_bytes']:,} bytes",
             "ub": f"{config.ub_rows:,} rows", "acc": f"{config.acc_rows:,} rows"}
    lines = []
    for memory, title in _MEMORIES.items():
        places = [place for place in known["memory"] if place["memory"] == memory]
        if not places and memory != "external":
            continue
        lines.append(f"{title}, {sizes[memory]}")
        for place in places:
            first, size = place["first"], place["size"]
            if memory == "external":
                where = f"{first:#010x}  {size:>12,} bytes"
            else:
                where = f"rows {first}..{first + size - 1}"
                where = f"{where:<29}"
            lines.append(f"  {where}  {place['name']}  {place['type']}")
    return lines
