"""What pages say of commands: those that they name, and whether numbers stand beside one."""

from __future__ import annotations

import re
from collections.abc import Iterator

from website.contents import ROOT, pages

__all__ = ["commands", "tables"]

_BLOCK = re.compile(r"^[ \t]*```[^\n]*\n(.*?)^[ \t]*```", re.DOTALL | re.MULTILINE)
_SCRIPTS = "|".join(sorted(path.name for path in (ROOT / "scripts").iterdir()
                           if path.is_file() and not path.suffix))
#: A command: what it may begin with, behind what it sets for itself.
_COMMAND = re.compile(
    rf"([A-Z_]+=\S+ )*(celosia (?=[a-z])|scripts/({_SCRIPTS})(?= |$)|python |\.venv/bin/python |"
    r"pip |curl |apt-get )")
#: What a page may name as the maker of its numbers.
_MAKER = re.compile(r"`[^`\n]*(celosia [a-z]|scripts/|python -m|tests/|\.py\b)[^`\n]*`")
_NUMBER = re.compile(r"\s*[<>~]?[-+]?\d[\d,. ]*(%| ?[a-zA-Z/%µ]+)?\s*")


def commands() -> Iterator[tuple[str, str]]:
    """Return the commands of the pages that are written by hand: the page, and the command.

    They are lines of blocks of code, up to two spaces or a remark, and what stands in backticks.
    """
    for name, path in pages().items():
        if name == "changelog" or not path.exists():
            continue
        text = path.read_text(encoding="utf-8")
        lines = [line for block in _BLOCK.findall(text) for line in block.splitlines()]
        inline = re.findall(r"`([^`\n]+)`", _BLOCK.sub("", text))
        for said in (*lines, *inline):
            command = said.strip().removeprefix("$ ")
            if _COMMAND.match(command) and not command.endswith("\\"):
                yield name, re.split(r"\s{2,}| # | \| ", command)[0]


def tables(page: str) -> Iterator[tuple[str, str, bool]]:
    """Return the tables with numbers of a page: their heading, their first line, and whether
    something that makes the numbers is named under that heading, or the page is made by a script.
    """
    made = "Made by `scripts/" in page
    for section in re.split(r"^(?=#+ )", page, flags=re.MULTILINE):
        for table in re.findall(r"(?:^\|.*\n)+", section, flags=re.MULTILINE):
            first, _, *rows = table.splitlines()
            cells = [cell for row in rows
                     for cell in re.sub(r"`[^`]*`|\([^)]*\)", "", row).split("|")]
            if sum(_NUMBER.fullmatch(cell) is not None for cell in cells) >= 2:
                yield (section.splitlines()[0].lstrip("# "), first,
                       made or _MAKER.search(section) is not None)
