"""Idle rooms: the function that Verilator wrote for a clock edge, cut into rooms that can sleep.

A room's byte of ``__Vawake`` is 0 while it sleeps. Who changes what another room reads wakes that
room in the same cycle; a room's own variables are looked at in one cycle of `PACE`: if they are
after it what they were before, and nobody woke the room, its next cycle would be this one again.
"""

import re
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from celosia_sim.idle import rooms
from celosia_sim.idle.statements import (
    DECLARATION,
    FUNCTION,
    Statement,
    close,
    condition,
    read,
    split,
    written,
)

__all__ = ["sleep"]

#: Cycles from one look at what a room's variables do to the next, a power of two.
PACE = 32
#: Bytes of a memory that is looked at like a register: counters are kept in one.
_SMALL = 2_048
_PORT = re.compile(r"VL_(?P<way>IN|OUT)(?P<size>8|16|64|W|)\(&?(?P<name>\w+),\d+,0"
                   r"(?:,(?P<words>\d+))?\);")
_SIZES = {"8": "CData", "16": "SData", "": "IData", "64": "QData"}
_OUTSIDE = re.compile(r"(?:ico|act)_\w+__TOP__\d+$")
_EDGE = re.compile(r"nba_\w+__TOP__\d+$")
_GUARDED = re.compile(r"__Vdly(?:Val|Dim\d+)__")
_ZERO = re.compile(r"(\w+) = 0;|VL_ZERO_W\(\d+, (\w+)\);")
_HEAD = "    auto& vlSelfRef = std::ref(*vlSelf).get();\n"
_LOOP = re.compile(r"\bwhile \(")


def _bytes(kind: str) -> int:
    """Bytes of a variable by its type."""
    kind = re.sub(r"/\*.*?\*/", "", kind)
    base = re.search(r"([CSIQ])Data|VlWide<(\d+)>", kind)
    assert base
    size = {"C": 1, "S": 2, "I": 4, "Q": 8}[base[1]] if base[1] else 4 * int(base[2])
    for depth in re.findall(r", (\d+)>", kind):
        size *= int(depth)
    return size


@dataclass
class _Model:
    """What the pass knows of a model.

    ``kinds``: type of each variable. ``local``: those of the function of the clock edge.
    ``statements``: of that function. ``runs``: them in order, a run of one room each; ``homes``:
    its room. ``rest``, ``always``: numbers of those rooms, the latter -2 where there is none.
    ``outside``: what each function writes that is called at other times. ``inputs``: pins.
    ``watch``: rooms to wake when a variable changes. ``inner``: local variables of one run each.
    ``kept``: variables of each room that are looked at. ``grids``: arrays that loops write.
    """

    kinds: dict[str, str]
    local: set[str]
    statements: list[Statement]
    runs: list[list[int]] = field(default_factory=list)
    homes: list[int] = field(default_factory=list)
    count: int = 0
    rest: int = 0
    always: int = -2
    outside: dict[str, set[str]] = field(default_factory=dict)
    inputs: list[str] = field(default_factory=list)
    watch: dict[str, set[int]] = field(default_factory=dict)
    inner: set[str] = field(default_factory=set)
    kept: dict[int, list[str]] = field(default_factory=dict)
    grids: set[str] = field(default_factory=set)

    def array(self, name: str) -> bool:
        return self.kinds[name].startswith("VlUnpacked")

    def looked_at(self, name: str) -> bool:
        """Whether a variable's values are compared; who writes to a large memory wakes its room."""
        return (not self.array(name) or name in self.grids
                or _bytes(self.kinds[name]) <= _SMALL)


def _statements(body: str, kinds: dict[str, str]) -> tuple[set[str], list[Statement]]:
    """Local variables and statements of the function of the clock edge; adds to ``kinds``."""
    local, texts = set(), []
    for text in split(body):
        if declared := DECLARATION.fullmatch(text):
            kinds[declared["name"]] = declared["type"]
            local.add(declared["name"])
        elif not (re.match(r"VL_DEBUG_IF|auto&|\w+__Syms\*", text) or (
                (zero := _ZERO.fullmatch(text)) and (zero[1] or zero[2]) in local)):
            texts.append(text)
    return local, [read(text, kinds) for text in texts]


def _settle(model: _Model) -> None:
    """Put statements into rooms and runs, and find out who watches what."""
    homes = [rooms.room(path) for path in rooms.paths(model.statements)]
    number = {home: index for index, home in enumerate(sorted({rooms.REST, *homes}))}
    model.count, model.rest = len(number), number[rooms.REST]
    model.always = number.get(rooms.ALWAYS, -2)
    model.runs = rooms.segments(model.statements, homes)
    model.homes = [number[homes[run[0]]] for run in model.runs]
    readers: dict[str, set[int]] = defaultdict(set)
    writers: dict[str, set[int]] = defaultdict(set)
    users: dict[str, set[int]] = defaultdict(set)
    for place, run in enumerate(model.runs):
        for index in run:
            for names, rooms_of in ((model.statements[index].reads, readers),
                                    (model.statements[index].writes, writers)):
                for name in names:
                    rooms_of[name].add(model.homes[place])
                    users[name].add(place)
    model.grids = {name for statement in model.statements for start, end in _loops(statement.text)
                   for name, _ in written(statement.text[start:end], model.kinds)}
    shared = set().union(*model.outside.values())
    for name in {*readers, *writers}:
        # Of several writers each must write again what another has overwritten.
        again = writers[name] if len(writers[name]) > 1 or name in shared else set()
        model.watch[name] = readers[name] | again
    model.inner = {name for name in model.local if len(users[name]) < 2}
    model.kept = {number: [name for name in sorted({*writers} - model.inner)
                           if number in writers[name] & model.watch[name]
                           and model.looked_at(name)]
                  for number in range(model.count)}


def _wake(numbers: Iterable[int]) -> str:
    return " ".join(f"vlSelfRef.__Vawake[{number}] = 2;" for number in sorted(numbers))


def _compare(model: _Model, names: Iterable[str], home: int) -> tuple[list[str], list[str]]:
    """C++ before and after what may change ``names``, in room ``home`` (-1: outside of all)."""
    groups: dict[frozenset[int], list[str]] = defaultdict(list)
    for name in sorted(names):
        if not model.array(name) and (numbers := _others(model, name, home)):
            groups[numbers].append(name)
    before = [f"const auto before_{name} = vlSelfRef.{name};"
              for group in groups.values() for name in group]
    after = ["if (" + " | ".join(f"idle_differ(before_{name}, vlSelfRef.{name})" for name in group)
             + f") {{ {_wake(numbers)} }}" for numbers, group in groups.items()]
    return before, after


def _others(model: _Model, name: str, home: int) -> frozenset[int]:
    """Rooms to wake when ``home`` changes a variable.

    The room of the rest is awake while a sleeper is, so only who never sleeps must wake it.
    """
    numbers = model.watch.get(name, set()) - {home, model.always}
    if home not in (-1, model.always):
        return frozenset(numbers - {model.rest})
    return frozenset(numbers | {model.rest}) if numbers else frozenset()


def _loops(text: str) -> list[tuple[int, int]]:
    """Where the loops of a piece of C++ begin and end."""
    starts = [(loop.start(), text.index("{", close(text, loop.end() - 1)))
              for loop in _LOOP.finditer(text)]
    return [(start, close(text, body)) for start, body in starts]


def _watch_arrays(model: _Model, text: str, home: int) -> str:
    """Wake who reads an array beside what writes to it: before a loop, behind an assignment."""
    loops = _loops(text)
    wakes: dict[int, set[int]] = defaultdict(set)
    for name, place in written(text, model.kinds):
        if not model.array(name):
            continue
        numbers = set(_others(model, name, home))
        if home in model.watch.get(name, ()) and not model.looked_at(name) and home != model.always:
            numbers.add(home)
        if numbers:
            around = [start for start, end in loops if start <= place < end]
            wakes[max(around) if around else text.index(";", place) + 1] |= numbers
    for place in sorted(wakes, reverse=True):
        text = f"{text[:place]} {_wake(wakes[place])} {text[place:]}"
    return text


def _joined(statements: Sequence[Statement], names: Iterable[str]) -> list[str]:
    """Texts of statements; neighbours with the same condition are one."""
    texts: list[str] = []
    last: tuple[str, str, str] | None = None
    changed: set[str] = set()
    for statement in statements:
        now = condition(statement.text)
        if now and last and now[0] == last[0] and not read(now[0], names).reads & changed:
            last = (now[0], f"{last[1]}\n{now[1]}", f"{last[2]}\n{now[2]}")
            changed |= statement.writes
            texts.pop()
        else:
            last, changed = now, set(statement.writes)
        texts.append(statement.text if last is None else f"if {last[0]} {{{last[1]}}}" + (
            f" else {{{last[2]}}}" if last[2].strip() else ""))
    return texts


def _zeros(model: _Model) -> list[Statement]:
    """Statements that set what Verilator sets to zero at every edge and that may be read so."""
    first: dict[str, bool] = {}
    words: dict[str, set[str]] = defaultdict(set)
    for statement in model.statements:
        target = re.match(r"(\w+)(?:\[(\w+)U\])?\s*=(?!=)", statement.text)
        for name in statement.reads | statement.writes:
            if name not in model.local or name in first:
                continue
            if target and target[1] == name and name not in statement.reads:
                words[name].add(target[2] or "")
                wide = re.match(r"VlWide<(\d+)>", model.kinds[name])
                if not wide or len(words[name]) == int(wide[1]):
                    first[name] = True
            else:
                first[name] = False
    return [Statement(f"{name} = {{}};", set(), {name}) for name in sorted(first)
            if not first[name] and not _GUARDED.match(name)
            and not model.kinds[name].startswith("VlUnpacked")]


def _function(model: _Model, place: int, root: str) -> str:
    """C++ of one run."""
    run, home = [model.statements[index] for index in model.runs[place]], model.homes[place]
    names = {name for statement in run for name in statement.reads | statement.writes}
    before, after = _compare(model, {name for statement in run for name in statement.writes}
                             - model.inner, home)
    body = _watch_arrays(model, "\n".join(_joined(run, model.kinds)), home)
    body = re.sub(r"(?<![\w.])([A-Za-z_]\w*)", lambda name: (
        f"vlSelfRef.{name[1]}" if name[1] in model.local - model.inner else name[1]), body)
    lines = [f"static __attribute__((noinline)) void idle_run_{place}({root}* vlSelf) {{",
             "auto& vlSelfRef = *vlSelf;",
             *(f"{model.kinds[name]} {name}{{}};" for name in sorted(names & model.inner)),
             *before, body, *after, "}"]
    return "\n".join(lines) + "\n"


def _edge(model: _Model, root: str, name: str) -> str:
    """C++ of the function of the clock edge, and of what it calls."""
    copy = [f"case {number}: " + " ".join(f"vlSelfRef.__Vkept_{number}_{name} = vlSelfRef.{name};"
                                          for name in names) + " break;"
            for number, names in model.kept.items()]
    moved = [f"case {number}: return " + (" || ".join(
                f"idle_differ(vlSelfRef.__Vkept_{number}_{name}, vlSelfRef.{name})"
                for name in names) or "false") + ";" for number, names in model.kept.items()]
    others = " | ".join(f"awake[{number}]" for number in range(model.count)
                        if number not in (model.rest, model.always)) or "0"
    sleepers = [number for number in range(model.count) if number != model.always]
    lines = [
        *(_function(model, place, root) for place in range(len(model.runs))),
        f"static __attribute__((noinline)) void idle_keep({root}* vlSelf, int room) {{",
        "auto& vlSelfRef = *vlSelf;", "switch (room) {", *copy, "}", "}",
        f"static __attribute__((noinline)) bool idle_moved({root}* vlSelf, int room) {{",
        "auto& vlSelfRef = *vlSelf;", "switch (room) {", *moved, "}", "return true;", "}",
        f"void {name}({root}* vlSelf) {{",
        "auto& vlSelfRef = *vlSelf;", "CData* const awake = vlSelfRef.__Vawake;",
        f"const bool look = !(++vlSelfRef.__Vpace & {PACE - 1});",
        "if (VL_UNLIKELY(look)) {", f"const bool alone = !({others});",
        *(f"if (awake[{number}]" + (" && alone" if number == model.rest else "")
          + f") {{ awake[{number}] = 1; idle_keep(vlSelf, {number}); }}" for number in sleepers),
        "}",
        *((f"if (awake[{home}]) " if home != model.always else "") + f"idle_run_{place}(vlSelf);"
          for place, home in enumerate(model.homes)),
        "if (VL_UNLIKELY(look)) {",
        *(f"if (awake[{number}] == 1) awake[{number}] = idle_moved(vlSelf, {number}) ? 2 : 0;"
          for number in sleepers),
        f"if ({others}) awake[{model.rest}] = 2;", "}", "}",
    ]
    return "\n".join(lines) + "\n"


def _outside(model: _Model, name: str, body: str) -> str:
    """Body of a function that is called at other times: it wakes who reads what it changes."""
    before, after = _compare(model, model.outside[name], -1)
    if "ico_" in name:  # logic behind the pins: the same pins, the same logic
        same = " | ".join(f"idle_differ(vlSelfRef.__Vseen_{pin}, vlSelfRef.{pin})"
                          for pin in model.inputs)
        before.insert(0, "if (VL_UNLIKELY(vlSelfRef.__Vfresh)) { vlSelfRef.__Vfresh = false; "
                         f"vlSelfRef.wake(); }} else if (!({same})) return;")
        for pin in model.inputs:
            wakes = _wake(_others(model, pin, -1))
            after.append(f"if (idle_differ(vlSelfRef.__Vseen_{pin}, vlSelfRef.{pin})) {{ {wakes} "
                         f"vlSelfRef.__Vseen_{pin} = vlSelfRef.{pin}; }}")
    if _HEAD not in body:
        raise ValueError(f"function {name} of the model must begin with {_HEAD.strip()!r}")
    return body.replace(_HEAD, _HEAD + "\n".join(before) + "\n", 1) + "\n".join(after) + "\n"


def _header(model: _Model, text: str) -> str:
    """The class of the model with what the pass adds, arrays where vectors are loaded whole."""
    added = [
        f"CData __Vawake[{model.count}];",
        "bool __Vfresh = true;", "IData __Vpace = 0;",
        "// Evaluate all rooms: what they read may have been changed from outside.",
        f"void wake() {{ std::memset(__Vawake, 2, {model.count}); }}",
        *(f"{model.kinds[name]} {name}{{}};" for name in sorted(model.local - model.inner)),
        *(f"{model.kinds[pin]} __Vseen_{pin}{{}};" for pin in model.inputs),
        *(f"{model.kinds[name]} __Vkept_{number}_{name};"
          for number, names in model.kept.items() for name in names),
    ]
    text = re.sub(r"^( +)(VlUnpacked<)", r"\1alignas(64) \2", text, flags=re.MULTILINE)
    start = text.index("class alignas")
    text = f'{text[:start]}#include "idle.h"\n\n{text[start:]}'
    public = text.index("  public:\n", start) + len("  public:\n")
    return text[:public] + "\n".join(added) + "\n" + text[public:]


def sleep(cpp: Path, root: str) -> bool:
    """Rewrite the C++ files of a model so that idle rooms are not evaluated.

    The class of the top module gets a method ``wake``, for who changes a memory from outside. A
    model of several classes stays as it is: Verilator makes one of each module that is there often,
    as elements are in the form for synthesis.

    Parameters
    ----------
    cpp
        Verilator's output folder.
    root
        Name of the class of the top module.

    Returns
    -------
    bool
        Whether the files were rewritten.

    Raises
    ------
    ValueError
        If the model has more than one clock, or not the form that Verilator gives it with
        ``-fno-merge-cond``, ``--output-split-cfuncs 0`` and ``--inline-cfuncs 0``.
    """
    header = cpp / f"{root}.h"
    prefix = root.removesuffix("___024root")
    if {path.name for path in cpp.glob("*.h")} - {
            f"{prefix}{name}.h" for name in ("", "__Syms", "__pch", "___024root")}:
        return False
    text = header.read_text()
    kinds = {found["name"]: found["type"] for found in DECLARATION.finditer(text)}
    ports = list(_PORT.finditer(text))
    kinds |= {port["name"]: _SIZES.get(port["size"], f"VlWide<{port['words']}>") for port in ports}
    members = set(kinds)
    files = {path: path.read_text() for path in sorted(cpp.glob("*.cpp"))
             if "Slow" not in path.stem}
    functions = {found["name"]: found["body"] for file in files.values()
                 for found in FUNCTION.finditer(file)}
    edges = [name for name in functions if _EDGE.search(name)]
    if len(edges) != 1:
        raise ValueError(f"the model must have one function for its clock, not {edges}")
    local, statements = _statements(functions[edges[0]], kinds)
    model = _Model(kinds, local, statements)
    model.inputs = [port["name"] for port in ports
                    if port["way"] == "IN" and port["name"] != "clk"]
    model.outside = {name: {target for target, _ in written(body, members)}
                     for name, body in functions.items() if _OUTSIDE.search(name)}
    model.statements = _zeros(model) + statements
    _settle(model)

    def rewritten(function: re.Match[str]) -> str:
        if function["name"] == edges[0]:
            return _edge(model, root, edges[0])
        if function["name"] in model.outside:
            return (f"void {function['name']}({root}* vlSelf) {{\n"
                    f"{_outside(model, function['name'], function['body'])}}}\n")
        return function[0]

    for path, file in files.items():
        others = FUNCTION.sub(lambda function: "" if function["name"] in (
            edges[0], *model.outside) else function[0], file)
        if strays := {name for name, place in written(others, model.watch)
                      if others.startswith("vlSelfRef.", place)}:
            raise ValueError(f"only functions for pins and clocks may write to {min(strays)}, but "
                             f"{path.name} has another")
        path.write_text(FUNCTION.sub(rewritten, file))
    header.write_text(_header(model, text))
    return True
