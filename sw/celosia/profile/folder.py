"""The folder that a profile is kept in."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from celosia.profile.exports import konata, perfetto, stacks
from celosia.profile.profile import Profile
from celosia.profile.verdict import MEGAHERTZ
from celosia.storage.destination import check_folder

__all__ = ["save"]

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
