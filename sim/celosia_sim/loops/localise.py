"""Temporaries of loops as C++ locals: a pass over what Verilator wrote.

The chip's grids are tasks with a loop over their elements (`celosia_sim.loops.vectorise`).
Verilator makes the automatic variables of such a task members of the model's class, and moves those
to the stack that are assigned outside of any loop only. A loop whose temporaries live in memory
cannot be vectorised; with this pass `core` simulates four times as fast.
"""

import re
from collections import Counter
from pathlib import Path

__all__ = ["localise"]

#: A temporary of a task that Verilator inlined, and its type.
_MEMBER = re.compile(r"^ +(?P<type>[CSIQ]Data)/\*\d+:0\*/ (?P<name>__Vtask_\w+);$", re.MULTILINE)
_NAME = re.compile(r"\b__Vtask_\w+")
_USE = re.compile(r"\bvlSelfRef\.(__Vtask_\w+)")
_RESET = re.compile(r"^ +vlSelf->(__Vtask_\w+) = \w+;$", re.MULTILINE)
_FUNCTION = re.compile(r"^[\w ]+ \w+\(\w+\* vlSelf\) \{\n.*?^\}\n", re.MULTILINE | re.DOTALL)
_LOOP = re.compile(r"^ +while \(\(.*?\)\) \{\n", re.MULTILINE | re.DOTALL)


def _declare(body: str, names: dict[str, str]) -> str:
    """Make members locals: of the only loop of a function if they are used in nothing else."""
    loops = list(_LOOP.finditer(body))
    start = body.index("{\n") + 2
    if len(loops) == 1:
        before, after = body[:loops[0].end()], body[loops[0].end():]
        indent = len(loops[0][0]) - len(loops[0][0].lstrip())
        inside = after[:after.index("\n" + " " * indent + "}")]
        outside = set(_USE.findall(before)) | set(_USE.findall(after[len(inside):]))
        if not outside & set(names):
            start = loops[0].end()
    # Zero, so that a mistake here would at least be the same mistake in every run.
    text = "".join(f"{kind} {name} = 0;\n" for name, kind in sorted(names.items()))
    body = body[:start] + text + body[start:]
    return _USE.sub(lambda use: use[1] if use[1] in names else use[0], body)


def localise(cpp: Path, root: str) -> int:
    """Rewrite the C++ files of a model.

    A member becomes a local if it is the temporary of an automatic task and all its uses lie in
    one function: its value cannot outlive a call then.

    Parameters
    ----------
    cpp
        Verilator's output folder.
    root
        Name of the class of the top module.

    Returns
    -------
    int
        Members that became locals.
    """
    kinds = {member["name"]: member["type"]
             for member in _MEMBER.finditer((cpp / f"{root}.h").read_text())}
    if not kinds:
        return 0
    texts = {path: path.read_text() for path in sorted(cpp.glob("*.cpp"))}
    uses = Counter(name for text in texts.values() for name in _NAME.findall(text))
    uses.subtract(name for text in texts.values() for name in _RESET.findall(text))
    found = 0
    for path, text in texts.items():
        if "__Vtask_" not in text or "Slow" in path.stem:
            continue

        def rewrite(function: re.Match[str]) -> str:
            nonlocal found
            here = Counter(_USE.findall(function[0]))
            names = {name: kinds[name] for name, n in here.items()
                     if name in kinds and uses[name] == n}
            found += len(names)
            return _declare(function[0], names) if names else function[0]

        path.write_text(_FUNCTION.sub(rewrite, text))
    return found
