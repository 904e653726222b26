"""Idle rooms: the function that Verilator wrote for a clock edge, cut into runs that can sleep.

A run is statements of one room that stand together. Its byte of ``__Vawake`` is 0 while it sleeps:
nothing that it reads has changed since it was evaluated. Who changes a variable wakes its readers,
those that come later in the same cycle, the others and itself in the next one. Arrays that loops
write are too large to be compared every time: who writes them stays awake, and they are looked at
in one cycle of `PACE`.
"""

import re
from collections import Counter, defaultdict
from collections.abc import Container, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from celosia.arch.words import ceil_div
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

#: Cycles from one look at an array that a loop writes to the next, a power of two.
PACE = 32
#: Runs that are left out with one look if all of them sleep.
_GROUP = 8
_PORT = re.compile(r"VL_(?P<way>IN|OUT)(?P<size>8|16|64|W|)\(&?(?P<name>\w+),\d+,0"
                   r"(?:,(?P<words>\d+))?\);")
_SIZES = {"8": "CData", "16": "SData", "": "IData", "64": "QData"}
_OUTSIDE = re.compile(r"(?:ico|act)_\w+__TOP__\d+$")
_EDGE = re.compile(r"nba_\w+__TOP__\d+$")
_GUARDED = re.compile(r"__Vdly(?:Val|Dim\d+)__")
_TARGET = re.compile(r"(?:vlSelfRef\.)?(\w+)(?:\[(\w+)U\])?\s*=(?!=)")
_WORDS = re.compile(r"VlWide<(\d+)>[^,]*$|, (\d+)>$")
_EQUALS = re.compile(r"(?<![=!<>])=(?!=)")
_CALL = re.compile(r"VL_\w+\(")
_ZERO = re.compile(r"(\w+) = 0;|VL_ZERO_W\(\d+, (\w+)\);")
_HEAD = "    auto& vlSelfRef = std::ref(*vlSelf).get();\n"
_LOOP = re.compile(r"\bwhile \(")


@dataclass
class _Model:
    """What the pass knows of a model.

    ``kinds``: type of each variable. ``local``: those of the function of the clock edge.
    ``statements``: of that function. ``runs``: them in order. ``names``: of each run's function,
    with the modules that it is of. ``outside``: what each function writes that is called at other
    times. ``inputs``: pins. ``watch``: runs to wake when a variable changes. ``inner``: local
    variables of one run each. ``grids``: arrays that loops write. ``kept``: those that each run
    looks at.
    """

    kinds: dict[str, str]
    local: set[str]
    statements: list[Statement]
    runs: list[list[int]] = field(default_factory=list)
    names: list[str] = field(default_factory=list)
    outside: dict[str, set[str]] = field(default_factory=dict)
    inputs: list[str] = field(default_factory=list)
    watch: dict[str, set[int]] = field(default_factory=dict)
    inner: set[str] = field(default_factory=set)
    kept: dict[int, list[str]] = field(default_factory=dict)
    grids: set[str] = field(default_factory=set)

    def array(self, name: str) -> bool:
        return self.kinds[name].startswith("VlUnpacked")


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


def _whole(statements: Sequence[Statement], names: Container[str],
           kinds: Mapping[str, str]) -> set[str]:
    """Those of ``names`` that are assigned, all their words, before they are read."""
    first: dict[str, bool] = {}
    words: dict[str, set[str]] = defaultdict(set)
    for statement in statements:
        target = _TARGET.match(statement.text)
        for name in statement.reads | statement.writes:
            if name not in names or name in first:
                continue
            if target and target[1] == name and name not in statement.reads:
                words[name].add(target[2])
                count = _WORDS.search(kinds[name])
                if not target[2] or len(words[name]) == int(count[1] or count[2] if count else 1):
                    first[name] = True
            else:
                first[name] = False
    return {name for name, whole in first.items() if whole}


def _settle(model: _Model) -> None:
    """Put statements into runs, and find out who watches what."""
    statements = model.statements
    homes = rooms.homes(rooms.paths(statements), statements)
    model.runs = [part for run in rooms.segments(statements, homes)
                  for part in rooms.parts(statements, run)]
    model.names = [f"room_{place}_{'__DOT__'.join(homes[run[0]]) or 'top'}"
                   for place, run in enumerate(model.runs)]
    readers: dict[str, set[int]] = defaultdict(set)
    writers: dict[str, set[int]] = defaultdict(set)
    for place, run in enumerate(model.runs):
        own = [statements[index] for index in run]
        written_ = set().union(*(statement.writes for statement in own))
        # What a run reads after it has written it is not news.
        news = set().union(*(statement.reads for statement in own)) - _whole(
            own, written_, model.kinds)
        for name in news:
            readers[name].add(place)
        for name in written_:
            writers[name].add(place)
    model.grids = {name for statement in statements for start, end in _loops(statement.text)
                   for name, _ in written(statement.text[start:end], model.kinds)}
    shared = set().union(*model.outside.values())
    users: dict[str, set[int]] = defaultdict(set)
    for place, run in enumerate(model.runs):
        for index in run:
            for name in statements[index].reads | statements[index].writes:
                users[name].add(place)
    for name in {*readers, *writers}:
        # Of several writers each must write again what another has overwritten.
        again = writers[name] if len(writers[name]) > 1 or name in shared else set()
        model.watch[name] = readers[name] | again
    model.inner = {name for name in model.local if len(users[name]) < 2}
    for place in range(len(model.runs)):
        if names := sorted(name for name in model.grids - model.inner
                           if place in writers[name] & model.watch[name]):
            model.kept[place] = names


def _wake(places: Iterable[int]) -> str:
    return " ".join(f"vlSelfRef.__Vawake[{place}] = 1;" for place in sorted(places))


def _groups(model: _Model, names: Iterable[str]) -> dict[frozenset[int], list[str]]:
    """Those of ``names`` that someone watches and that are no arrays, by who does."""
    groups: dict[frozenset[int], list[str]] = defaultdict(list)
    for name in sorted(names):
        if not model.array(name) and (places := model.watch.get(name)):
            groups[frozenset(places)].append(name)
    return groups


def _compare(model: _Model, names: Iterable[str]) -> tuple[list[str], list[str]]:
    """C++ before and after what may change ``names``."""
    groups = _groups(model, names)
    before = [f"const auto before_{name} = vlSelfRef.{name};"
              for group in groups.values() for name in group]
    after = ["if (VL_UNLIKELY(" + " | ".join(
        f"idle_differ(before_{name}, vlSelfRef.{name})" for name in group)
        + f")) {{ {_wake(places)} }}" for places, group in groups.items()]
    return before, after


def _once(run: Sequence[Statement], kinds: Mapping[str, str]) -> set[str]:
    """Variables that a run assigns once at most, or a word or a field at a time."""
    often: Counter[str] = Counter()
    for statement in run:
        loops = _loops(statement.text)
        targets = list(written(statement.text, kinds))
        plain = {name for name, at in targets
                 if not any(start <= at < end for start, end in loops)}
        for name in statement.writes:
            if name not in plain or _CALL.match(statement.text) or statement.text.endswith("{};"):
                often[name] += 2  # by a function, in a loop, or what is no value
            elif name not in statement.reads:
                target = _TARGET.match(statement.text)
                often[name] += 0 if target and target[2] else 1
    return {name for name, count in often.items() if count < 2}


def _compared(text: str, numbers: Mapping[str, int], kinds: Mapping[str, str]) -> str:
    """Note in ``changed`` of a number whether assignments to variables change them."""
    for name, at in reversed(list(written(text, kinds))):
        if name in numbers:
            end = text.index(";", at)
            equals = next(found.start() for found in _EQUALS.finditer(text, at, end)
                          if text.count("[", at, found.start()) == text.count(
                              "]", at, found.start()))
            text = (f"{text[:at]}idle_set(changed_{numbers[name]}, {text[at:equals].rstrip()}, "
                    f"{text[equals + 1:end].strip()}){text[end:]}")
    return text


def _loops(text: str) -> list[tuple[int, int]]:
    """Where the loops of a piece of C++ begin and end."""
    starts = [(loop.start(), text.index("{", close(text, loop.end() - 1)))
              for loop in _LOOP.finditer(text)]
    return [(start, close(text, body)) for start, body in starts]


def _watch_arrays(model: _Model, text: str, place: int) -> str:
    """Wake who reads an array beside what writes to it: before a loop, behind an assignment."""
    loops = _loops(text)
    wakes: dict[int, set[int]] = defaultdict(set)
    for name, at in written(text, model.kinds):
        if not model.array(name):
            continue
        places = set(model.watch.get(name, ()))
        if name in model.kept.get(place, ()):
            places.discard(place)
        if places:
            around = [start for start, end in loops if start <= at < end]
            wakes[max(around) if around else text.index(";", at) + 1] |= places
    for at in sorted(wakes, reverse=True):
        text = f"{text[:at]} {_wake(wakes[at])} {text[at:]}"
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
    used = set().union(*(statement.reads | statement.writes for statement in model.statements))
    whole = _whole(model.statements, model.local, model.kinds)
    return [Statement(f"{name} = {{}};", set(), {name}) for name in sorted(used & model.local)
            if name not in whole and not _GUARDED.match(name)
            and not model.kinds[name].startswith("VlUnpacked")]


def _function(model: _Model, place: int, root: str) -> str:
    """C++ of one run."""
    run = [model.statements[index] for index in model.runs[place]]
    names = {name for statement in run for name in statement.reads | statement.writes}
    targets = {name for statement in run for name in statement.writes} - model.inner
    groups = _groups(model, targets & _once(run, model.kinds))
    numbers = {name: number for number, group in enumerate(groups.values()) for name in group}
    before, after = _compare(model, targets - {*numbers})
    before += [f"QData changed_{number} = 0;" for number in range(len(groups))]
    after += [f"if (VL_UNLIKELY(changed_{number})) {{ {_wake(places)} }}"
              for number, places in enumerate(groups)]
    body = "\n".join(_compared(text, numbers, model.kinds) for text in _joined(run, model.kinds))
    body = _watch_arrays(model, body, place)
    outer = model.local - model.inner
    body = re.sub(r"(?<![\w.])([A-Za-z_]\w*)", lambda name: (
        f"vlSelfRef.{name[1]}" if name[1] in outer else name[1]), body)
    if kept := model.kept.get(place):
        before += [f"const bool look = !(vlSelfRef.__Vpace & {PACE - 1});",
                   "if (VL_UNLIKELY(look)) {",
                   *(f"vlSelfRef.__Vkept_{name} = vlSelfRef.{name};" for name in kept), "}"]
        after.append("if (!look || " + " || ".join(
            f"idle_differ(vlSelfRef.__Vkept_{name}, vlSelfRef.{name})" for name in kept)
            + f") {{ {_wake([place])} }}")
    lines = [f"IDLE_RUN void {model.names[place]}({root}* vlSelf) {{",
             "auto& vlSelfRef = *vlSelf;",
             *(f"{model.kinds[name]} {name}{{}};" for name in sorted(names & model.inner)),
             *before, body, *after, "}"]
    return "\n".join(lines) + "\n"


def _edge(model: _Model, root: str, name: str) -> str:
    """C++ of the function of the clock edge, and of what it calls."""
    tests = [f"if (awake[{place}]) {{ awake[{place}] = 0; {name}(vlSelf); }}"
             for place, name in enumerate(model.names)]
    lines = [
        *(_function(model, place, root) for place in range(len(model.runs))),
        f"void {name}({root}* vlSelf) {{",
        "++vlSelf->__Vpace;", "CData* const awake = vlSelf->__Vawake;",
        *("\n".join([f"if (idle_any(awake + {at})) {{", *tests[at:at + _GROUP], "}"])
          for at in range(0, len(tests), _GROUP)),
        "}",
    ]
    return "\n".join(lines) + "\n"


def _outside(model: _Model, name: str, body: str) -> str:
    """Body of a function that is called at other times: it wakes who reads what it changes."""
    before, after = _compare(model, model.outside[name])
    if "ico_" in name:  # logic behind the pins: the same pins, the same logic
        same = " | ".join(f"idle_differ(vlSelfRef.__Vseen_{pin}, vlSelfRef.{pin})"
                          for pin in model.inputs)
        before.insert(0, "if (VL_UNLIKELY(vlSelfRef.__Vfresh)) { vlSelfRef.__Vfresh = false; "
                         f"vlSelfRef.wake(); }} else if (!({same})) return;")
        for pin in model.inputs:
            wakes = _wake(model.watch.get(pin, ()))
            after.append(f"if (idle_differ(vlSelfRef.__Vseen_{pin}, vlSelfRef.{pin})) {{ {wakes} "
                         f"vlSelfRef.__Vseen_{pin} = vlSelfRef.{pin}; }}")
    if _HEAD not in body:
        raise ValueError(f"function {name} of the model must begin with {_HEAD.strip()!r}")
    return body.replace(_HEAD, _HEAD + "\n".join(before) + "\n", 1) + "\n".join(after) + "\n"


def _header(model: _Model, text: str) -> str:
    """The class of the model with what the pass adds, arrays where vectors are loaded whole."""
    added = [
        f"alignas({_GROUP}) CData __Vawake[{ceil_div(len(model.runs), _GROUP) * _GROUP}] = {{}};",
        "bool __Vfresh = true;", "IData __Vpace = 0;",
        "// Evaluate everything: what is read may have been changed from outside.",
        f"void wake() {{ std::memset(__Vawake, 1, {len(model.runs)}); }}",
        *(f"{model.kinds[name]} {name}{{}};" for name in sorted(model.local - model.inner)),
        *(f"{model.kinds[pin]} __Vseen_{pin}{{}};" for pin in model.inputs),
        *(f"{model.kinds[name]} __Vkept_{name};"
          for name in sorted({name for names in model.kept.values() for name in names})),
    ]
    text = re.sub(r"^( +)(VlUnpacked<)", r"\1alignas(64) \2", text, flags=re.MULTILINE)
    start = text.index("class alignas")
    text = f'{text[:start]}#include "idle.h"\n\n{text[start:]}'
    public = text.index("  public:\n", start) + len("  public:\n")
    return text[:public] + "\n".join(added) + "\n" + text[public:]


def sleep(cpp: Path, root: str) -> bool:
    """Rewrite the C++ files of a model so that idle runs are not evaluated.

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
