"""The folder that a profile is kept in."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from celosia.profile.exports import konata, perfetto, stacks
from celosia.profile.page import difference, page
from celosia.profile.profile import Profile
from celosia.profile.verdict import MEGAHERTZ
from celosia.storage.destination import check_folder

__all__ = ["save", "save_difference", "save_page"]

_NAME = re.compile(r"[^A-Za-z0-9_.-]+")


def save(folder: str | Path, profile: Profile, known: Mapping[str, Any], *,
         megahertz: float = MEGAHERTZ) -> tuple[Path, ...]:
    """Write a profile and its records into a folder, which is made; return the files.

    Parameters
    ----------
    folder
        Where.
    profile, known
        What was profiled, and its `celosia.profile.facts`.
    megahertz
        The clock, for traces in seconds.

    Raises
    ------
    ValueError
        If the folder cannot be made or written to.
    """
    folder = Path(folder)
    check_folder("-o", folder)
    folder.mkdir(parents=True, exist_ok=True)
    files = [folder / "profile.json"]
    files[0].write_text(json.dumps(known, indent=1))
    for number, record in enumerate(profile.records):
        name = _NAME.sub("_", profile.name) + (f"-{number}" if number else "")
        for suffix, data in (("pftrace", perfetto(record, megahertz)),
                             ("kanata", konata(record).encode()),
                             ("stacks", stacks(record).encode())):
            files.append(folder / f"{name}.{suffix}")
            files[-1].write_bytes(data)
    return tuple(files)


def save_page(folder: str | Path, profile: Profile, known: Mapping[str, Any], *,
              megahertz: float = MEGAHERTZ, sources: Sequence[Path] = ()) -> Path:
    """Write the page of a profile, NAME.html, into a folder; return the file.

    Parameters
    ----------
    folder, profile, known, megahertz
        As of `save`.
    sources
        Folders of the user's files.

    Raises
    ------
    ValueError
        If the folder cannot be written to, or Bokeh is not installed.
    """
    text = page(profile, known, megahertz=megahertz, folders=sources)
    return _write(folder, _NAME.sub("_", profile.name) or "profile", text)


def save_difference(folder: str | Path, before: Mapping[str, Any],
                    after: Mapping[str, Any]) -> Path:
    """Likewise for the difference of two profiles, `celosia.profile.facts`: difference.html."""
    return _write(folder, "difference", difference(before, after))


def _write(folder: str | Path, name: str, text: str) -> Path:
    folder = Path(folder)
    check_folder("-o", folder)
    folder.mkdir(parents=True, exist_ok=True)
    file = folder / f"{name}.html"
    file.write_text(text, encoding="utf-8")
    return file
