"""Makes docs/configuration.md from `celosia.arch.config`: what a chip can be, and the presets."""

from __future__ import annotations

import dataclasses
import inspect
import re
from collections.abc import Iterator, Sequence
from pathlib import Path

from celosia.arch.config import PRESETS, TpuConfig
from pages.page import write_page

__all__ = ["configuration", "configuration_page", "main"]

_INTRO = """\
# Configuration

Made by `scripts/docs` from `sw/celosia/arch/config.py`; edit the docstring there, not this page.

One object, `celosia.arch.config.TpuConfig`, makes the hardware, the golden model, the compiler
and the driver. Programs carry its fingerprint, and chips refuse those of another one. A preset is
one of them with a name; a chip of your own is `dataclasses.replace(preset("core"), name="mine",
ub_rows=8192)`, which `celosia.open("rtl", config=...)` builds.
"""


def _parameters() -> dict[str, str]:
    """Return what the docstring says of each field."""
    text = inspect.getdoc(TpuConfig) or ""
    section = text.partition("----------\n")[2].partition("\n\nRaises")[0]
    found = {}
    for names, said in re.findall(r"^(\w[\w, ]*)\n((?:    .*\n?)+)", section, re.MULTILINE):
        for name in names.split(", "):
            found[name] = " ".join(said.split()).replace("``", "`")
    return found


def _value(value: object) -> str:
    return f"{value:,}" if type(value) is int else str(value).lower()


def configuration() -> Iterator[str]:
    """Return the lines of the page."""
    fields = dataclasses.fields(TpuConfig)
    yield _INTRO
    yield "## Fields"
    yield ""
    yield "| field | default | meaning |"
    yield "|---|---|---|"
    said = _parameters()
    for field in fields:
        default = "" if field.default is dataclasses.MISSING else f"`{field.default}`"
        yield f"| `{field.name}` | {default} | {said[field.name]} |"
    yield ""
    yield "## Presets"
    yield ""
    yield f"| | {' | '.join(f'`{name}`' for name in PRESETS)} |"
    yield "|---|" + "---:|" * len(PRESETS)
    for field in fields[1:]:
        row = " | ".join(_value(getattr(each, field.name)) for each in PRESETS.values())
        yield f"| `{field.name}` | {row} |"
    for name in ("pes", "ub_bytes", "acc_bytes"):
        row = " | ".join(_value(getattr(each, name)) for each in PRESETS.values())
        yield f"| {name} | {row} |"
    row = " | ".join(f"`{each.fingerprint:#010x}`" for each in PRESETS.values())
    yield f"| fingerprint | {row} |"


def configuration_page() -> str:
    """Return docs/configuration.md."""
    return "\n".join(configuration()) + "\n"


def main(argv: Sequence[str] | None = None, root: Path | None = None) -> int:
    """Write docs/configuration.md; arguments and result as of `pages.page.write_page`."""
    return write_page("configuration.md", lambda page: configuration_page(), argv, root)
