"""Makes the picture of the rooms and the table of their imports in docs/architecture.md."""

from __future__ import annotations

import ast
from collections.abc import Mapping, Sequence
from pathlib import Path

import house

from pages.page import between, write_page

__all__ = ["main", "merged", "picture", "reduced", "table"]

#: Before and after what is made, in the page.
_MARKS = ("<!-- rooms: written by scripts/docs -->\n", "<!-- end of rooms -->\n")


def reduced(graph: Mapping[str, set[str]]) -> dict[str, list[str]]:
    """Return a graph without circles but for the arrows that others, put together, make
    (its transitive reduction); what it leads to in the order of the graph.
    """
    reached: dict[str, set[str]] = {}

    def reach(node: str) -> set[str]:
        if node not in reached:
            reached[node] = set().union(graph[node], *map(reach, graph[node]))
        return reached[node]

    return {node: [other for other in graph if other in others
                   and not any(other in reach(between) for between in others)]
            for node, others in graph.items()}


def merged(rooms: Mapping[str, set[str]], *packages: str) -> dict[str, set[str]]:
    """Return the graph in which all rooms of a package are one."""
    def name(room: str) -> str:
        return next((package for package in packages if house.inside(room, package)), room)

    found: dict[str, set[str]] = {}
    for room, others in rooms.items():
        found.setdefault(name(room), set()).update(map(name, others))
    return {room: others - {room} for room, others in found.items()}


def picture(rooms: Mapping[str, set[str]]) -> str:
    """Return what each room rests on, as Mermaid."""
    lines = ["```mermaid", "flowchart TB"]
    # Some names, such as graph, are words of Mermaid.
    mark = {room: f"{room.replace('.', '_')}_" for room in rooms}
    lines += [f'    {mark[room]}["{room}"]' for room in reversed(list(rooms))]
    lines += [f"    {mark[room]} --> {mark[other]}"
              for room, others in reversed(reduced(rooms).items()) for other in reversed(others)]
    return "\n".join([*lines, "```"]) + "\n"


def table(rooms: Mapping[str, set[str]]) -> str:
    """Return a Markdown table: what each room is, and what it imports."""
    lines = ["| room | what | imports |", "|---|---|---|"]
    for room, others in rooms.items():
        names = ", ".join(f"`{other}`" for other in rooms if other in others)
        lines.append(f"| `{room}` | {_summary(room)} | {names} |")
    return "\n".join(lines) + "\n"


def _summary(room: str) -> str:
    """Return the first line of the docstring of a room."""
    name = room if room.partition(".")[0] in house.SOURCES else f"celosia.{room}"
    tree = ast.parse(house.modules()[name].read_text(encoding="utf-8"))
    return (ast.get_docstring(tree) or "").partition("\n")[0].replace("``", "`")


def main(argv: Sequence[str] | None = None, root: Path | None = None) -> int:
    """Write docs/architecture.md; arguments and result as of `pages.page.write_page`."""
    rooms = house.rooms()
    chip = {room: {other for other in others if house.inside(other, "celosia_hw")}
            for room, others in rooms.items() if house.inside(room, "celosia_hw")}
    made = "\n".join([picture(merged(rooms, "celosia_hw", "celosia_sim")),
                      "Inside `celosia_hw`:\n", picture(chip), table(rooms)])
    return write_page("architecture.md", lambda page: between(page, _MARKS, made), argv, root)
