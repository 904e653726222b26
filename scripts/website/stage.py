"""Puts together what Sphinx reads: pages of the repository, which stay plain Markdown, with their
links turned to where things are on the site.
"""

from __future__ import annotations

import re
import shutil
from collections.abc import Mapping
from pathlib import Path

from website.contents import ROOT, SECTIONS, WIDE, pages

__all__ = ["MissingPage", "stage"]

#: A link or a picture: text, target, anchor.
_LINK = re.compile(r"(?P<mark>!?)\[(?P<text>(?:[^\][]|\[[^\]]*\])*)\]\((?P<target>[^)#\s]*)"
                   r"(?P<anchor>#[^)\s]*)?\)")
_FENCE = re.compile(r"^(```|~~~)")
_CODE = re.compile(r"(`+[^`]*`+)")
_ABSOLUTE = re.compile(r"[a-z]+:")


class MissingPage(ValueError):
    """A link, or the table of contents, names a file that there is not."""


class _Links:
    """Turns links of one page; pictures are copied to beside it."""

    def __init__(self, source: Path, into: Path, where: Mapping[Path, str]):
        self._source, self._into, self._where = source, into, where

    def turned(self, text: str) -> str:
        """Return a page with its links turned; code stays as it is."""
        lines, fence = [], ""
        for line in text.split("\n"):
            found = _FENCE.match(line.strip())
            if found and fence in ("", found[1]):
                fence = "" if fence else found[1]
            elif not fence:
                line = "".join(part if part.startswith("`") else _LINK.sub(self._link, part)
                               for part in _CODE.split(line))
            lines.append(line)
        return "\n".join(lines)

    def _link(self, found: re.Match[str]) -> str:
        target, anchor = found["target"], found["anchor"] or ""
        if not target or _ABSOLUTE.match(target):
            return found[0]
        path = (self._source.parent / target).resolve()
        if not path.exists():
            raise MissingPage(f"{self._source.relative_to(ROOT)}: a link must be to something that "
                              f"there is, not to {target}")
        if found["mark"]:
            shutil.copy(path, self._into / path.name)
            return f"![{found['text']}]({path.name})"
        if path in self._where:
            named = found["text"].rpartition("/")[2] == path.name  # the page has a title
            return f"[{'' if named else found['text']}](/{self._where[path]}.md{anchor})"
        return found["text"]  # a file of the repository, which is not on the site


def _tables() -> str:
    """Return the tables of contents, of which Sphinx makes the column at the side."""
    parts = []
    for heading, names in SECTIONS.items():
        parts += ["```{toctree}", ":hidden:", f":caption: {heading}", "", *names, "```", ""]
    return "\n".join(parts)


def stage(into: Path, generated: Mapping[str, str]) -> None:
    """Write the sources of the site into an empty folder.

    Parameters
    ----------
    into
        The folder.
    generated
        Pages that are made with the site, by name.

    Raises
    ------
    MissingPage
        If a page of the table of contents is missing, or a link leads nowhere.
    """
    found = {name: path for name, path in pages().items() if name not in generated}
    where = {path.resolve(): name for name, path in found.items()}
    for name, path in found.items():
        if not path.exists():
            raise MissingPage(f"page {name} must be in {path.relative_to(ROOT)}, which is missing")
        page = into / f"{name}.md"
        page.parent.mkdir(exist_ok=True)
        text = _Links(path, page.parent, where).turned(path.read_text(encoding="utf-8"))
        if name in WIDE:
            text = "---\nhide-toc: true\n---\n" + text
        if name == "index":
            text += "\n" + _tables()
        page.write_text(text, encoding="utf-8")
    for name, text in generated.items():
        (into / f"{name}.md").write_text(text, encoding="utf-8")
