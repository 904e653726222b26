"""What a page shows, as data: the schema of its ``<script type="application/json">``."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from celosia.arch.registers import UNIT_NAMES
from celosia.compiled.steps import ChipStep
from celosia.graph import Source
from celosia.model.timing import REASONS, Reason
from celosia.profile.page.columns import packed, packed_text
from celosia.profile.page.memory import MEMORIES, lives, peak
from celosia.profile.profile import Profile
from celosia.profile.record import Record

__all__ = ["SCHEMA", "content", "files_of", "states"]

#: Of the data; another number where a reader of this one would err.
SCHEMA = "celosia.profile.page/1"
#: Instructions whose text is there, those with the most cycles first: texts take long to make.
_MOST_TEXTS = 2_000
#: Bytes of a file that is shown.
_MOST_SOURCE = 2 << 20
_UNITS = 4
_COLUMNS = ("pc", "unit", "amount", "issued", "checked", "start", "occupied", "end", "reason",
            "blamed", "lost")


def content(profile: Profile, known: Mapping[str, Any], megahertz: float,
            folders: Sequence[Path] = ()) -> dict[str, Any]:
    """Return all that a page shows, of what the module ``json`` can write.

    Parameters
    ----------
    profile, known
        What was profiled, and its `celosia.profile.facts`.
    megahertz
        The clock in which cycles are said as time.
    folders
        Where files of the user's are looked for, beside the places that they have.
    """
    records = profile.records
    steps = [step for step in profile.compiled.steps if isinstance(step, ChipStep)]
    cycles = np.cumsum([0, *(record.cycles for record in records)]).tolist()
    sources: dict[str, int] = {}
    of_pc = [sources.setdefault(text, len(sources)) for record in records
             for text in (record.program.sources or ("",) * len(record.program.insns))]
    tensors = [each for record, step, base in zip(records, steps, cycles, strict=False)
               for each in lives(record, step, base)]
    parsed = [Source.parse(text) for text in sources]
    return {
        "schema": SCHEMA, "megahertz": megahertz, "facts": dict(known),
        "config": {"name": profile.config.name, "dim": profile.config.dim,
                   "pes": profile.config.pes, "lanes": profile.config.lanes,
                   "bus_bytes": profile.config.bus_bytes, "ub_rows": profile.config.ub_rows,
                   "acc_rows": profile.config.acc_rows},
        "units": list(UNIT_NAMES[:_UNITS]),
        "reasons": [REASONS[each] for each in Reason],
        "count": sum(map(len, records)), "cycles": cycles[-1],
        "columns": _columns(records, cycles), "of_pc": packed(of_pc),
        "sources": [{"operation": operation, "name": source.name,
                     "place": f"{source.file}:{source.line}" if source.line else
                     source.said(operation) or "(no source)"} for operation, source in parsed],
        "texts": _texts(records), "critical": _critical(records, cycles),
        "operations": _operations(records, list(sources), parsed),
        "states": states(records),
        "tensors": tensors, "memories": MEMORIES,
        "peaks": {memory: peak(tensors, memory) for memory in MEMORIES},
        "arena": profile.compiled.arena_bytes,
        "files": files_of([source.file for _, source in parsed if source.line], folders),
    }


def _columns(records: Sequence[Record], cycles: Sequence[int]) -> dict[str, str]:
    """Return the columns of all records, one after another: times, places, programs go on."""
    parts: dict[str, list[NDArray]] = {name: [] for name in _COLUMNS}
    pc = index = 0
    for record, base in zip(records, cycles, strict=False):
        for name in _COLUMNS:
            column = getattr(record, name)
            if name in ("issued", "checked", "start", "end"):
                column = column + base
            elif name == "pc":
                column = column + pc
            elif name == "blamed":
                column = np.where(column < 0, -1, column + index)
            parts[name].append(column)
        pc, index = pc + len(record.program.insns), index + len(record)
    found = {name: np.concatenate([*each, np.zeros(0, np.int64)]) for name, each in parts.items()}
    # As differences from what is near them, numbers are short.
    count = np.arange(len(found["pc"]))
    found["blamed"] = np.where(found["blamed"] < 0, 0, count - found["blamed"])
    found["issued"] = found["checked"] - found["issued"]
    found["end"] = found["end"] - found["start"] - found["occupied"]
    found["start"] = found["start"] - found["checked"]
    return {name: packed(column) for name, column in found.items()}


def _texts(records: Sequence[Record]) -> dict[str, str]:
    cost: Counter[tuple[int, int]] = Counter()
    for number, record in enumerate(records):
        spent = np.bincount(record.pc, record.occupied, len(record.program.insns))
        for pc in np.flatnonzero(spent).tolist():
            cost[number, pc] = int(spent[pc])
    bases = np.cumsum([0, *(len(record.program.insns) for record in records)]).tolist()
    chosen = sorted(pair for pair, _ in cost.most_common(_MOST_TEXTS))
    return {"pc": packed([bases[number] + pc for number, pc in chosen]),
            "text": packed_text(records[number].text(pc) for number, pc in chosen)}


def _critical(records: Sequence[Record], cycles: Sequence[int]) -> dict[str, Any]:
    """Return the critical path; parts of one kind that follow each other are one."""
    names: dict[str, int] = {}
    rows: list[tuple[int, int, int, int]] = []
    index = 0
    for record, base in zip(records, cycles, strict=False):
        for part in record.critical:
            what = names.setdefault(part.what, len(names))
            if rows and rows[-1][3] == what and rows[-1][0] + rows[-1][1] == base + part.first:
                rows[-1] = (rows[-1][0], rows[-1][1] + part.cycles, rows[-1][2], what)
            else:
                rows.append((base + part.first, part.cycles, index + part.index, what))
        index += len(record)
    columns = list(zip(*rows, strict=True)) or [()] * 4
    return {"names": list(names), **{name: packed(column) for name, column in zip(
        ("first", "cycles", "index", "what"), columns, strict=True)}}


def _operations(records: Sequence[Record], texts: Sequence[str],
                parsed: Sequence[tuple[str, Source]]) -> list[dict[str, Any]]:
    """Return what each operation costs and does: cycles, rows of the units, bytes."""
    found: dict[str, dict[str, Any]] = {}
    for record in records:
        sources = record.program.sources or ("",) * len(record.program.insns)

        def of(pc: int, sources: tuple[str, ...] = sources) -> dict[str, Any]:
            return found.setdefault(sources[pc], dict.fromkeys(
                ("cycles", "products", "elements", "bytes"), 0))

        for pc, cycles in record.prediction.by_instruction.items():
            of(pc)["cycles"] += cycles
        for unit, what, times in (("mxu", "products", record.config.pes),
                                  ("vpu", "elements", record.config.dim), ("load", "bytes", 1),
                                  ("store", "bytes", 1)):
            mine = record.unit == UNIT_NAMES.index(unit)
            counts = np.bincount(record.pc[mine], record.amount[mine])
            for pc in np.flatnonzero(counts).tolist():
                of(pc)[what] += int(counts[pc]) * times
    number = {text: i for i, text in enumerate(texts)}
    return sorted(({"source": number[text], "operation": parsed[number[text]][0], **each}
                   for text, each in found.items()), key=lambda each: -each["cycles"])


def states(records: Sequence[Record]) -> dict[str, dict[str, int]]:
    """Return the cycles of each unit by what it did or waited for; each adds up to the run."""
    found: dict[str, dict[str, int]] = {}
    for unit in range(_UNITS):
        cost: Counter[str] = Counter()
        for record in records:
            mine = np.flatnonzero(record.unit == unit)
            # An instruction may outlast the run in its unit, by what nobody waits for.
            ends = (record.start + record.occupied)[mine]
            over = int(max(ends.max(initial=0) - record.cycles, 0))
            lost = int(record.lost[mine].sum())
            cost["at work"] += int(record.occupied[mine].sum()) - lost - over
            cost["lost to banks and bus"] += lost
            for reason in Reason:
                here = mine[record.reason[mine] == reason]
                cost[f"waits: {REASONS[reason][0]}"] += int(record.rests[here].sum())
            cost["nothing more to do"] += record.cycles - int(min(ends.max(initial=0),
                                                                  record.cycles))
        found[UNIT_NAMES[unit]] = {name: count for name, count in cost.items() if count}
    return found


def files_of(names: Sequence[str], folders: Sequence[Path]) -> dict[str, str]:
    """Return the text of each file that can be read, packed."""
    found: dict[str, str] = {}
    for name in dict.fromkeys(names):
        for path in (Path(name), *(folder / name for folder in folders)):
            try:
                if path.is_file() and path.stat().st_size <= _MOST_SOURCE:
                    found[name] = packed_text(path.read_text(errors="replace").splitlines())
                    break
            except OSError:
                continue
    return found
