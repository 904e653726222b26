"""The site: pages, the chip, and what both want, in one folder without a foreign host."""

from __future__ import annotations

import shutil
from pathlib import Path

from celosia.arch.config import preset
from celosia_sim.wasm import build_wasm
from website.check import problems
from website.contents import ROOT
from website.examples import examples
from website.gallery import PROFILED, PROGRAMS, gallery, place_profiles
from website.network import network
from website.reference import reference
from website.settings import SETTINGS
from website.stage import stage
from website.tables import tables

__all__ = ["build"]

#: The chip that is live, and the one that trains.
_LIVE, _TRAINS = "nano", "core4"


def _place_chip(folder: Path) -> None:
    """Write what the live pages load."""
    config = preset(_LIVE)
    shutil.copytree(ROOT / "web", folder, ignore=shutil.ignore_patterns("static"))
    for name, prefix in ((_LIVE, ""), (_TRAINS, "network-")):
        made = build_wasm(preset(name))
        shutil.copy(made.module, folder / f"{prefix}chip.wasm")
        shutil.copy(made.description, folder / f"{prefix}chip.json")
    (folder / "network.json").write_text(network(preset(_TRAINS)), encoding="utf-8")
    (folder / "isa.json").write_text(tables(config), encoding="utf-8")
    (folder / "examples.json").write_text(examples(), encoding="utf-8")


def build(work: Path, *, every: bool = False) -> list[str]:
    """Make the site in ``work / "html"``; return what is wrong with it.

    Parameters
    ----------
    work
        A folder.
    every
        The profiles of programs that take minutes, too.

    Raises
    ------
    website.stage.MissingPage
        If a page is missing, or a link leads nowhere.
    celosia.storage.ToolchainError
        If the chip cannot be translated.
    """
    from io import StringIO

    from sphinx.application import Sphinx
    from sphinx.util.console import nocolor

    nocolor()
    source, made, warnings = work / "source", work / "html", StringIO()
    source.mkdir()
    profiled = PROGRAMS if every else PROFILED
    stage(source, {**reference(), "gallery": gallery(profiled)})
    app = Sphinx(source, None, made, work / "trees", "html", confoverrides=SETTINGS, status=None,
                 warning=warnings, freshenv=True)
    app.build()
    if said := warnings.getvalue().strip():
        return said.replace(f"{source}/", "").splitlines()
    _place_chip(made / "_static" / "celosia")
    place_profiles(made / "gallery", profiled)
    for page in made.rglob("*.html"):  # the theme says that they are headings, not of which level
        text = page.read_text(encoding="utf-8")
        page.write_text(text.replace('class="caption" role="heading"',
                                     'class="caption" role="heading" aria-level="2"'),
                        encoding="utf-8")
    for name in ("objects.inv", ".buildinfo"):
        (made / name).unlink(missing_ok=True)
    return problems(made)
