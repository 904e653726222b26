"""Pages that are made with the site: the API, the commands, every message."""

from __future__ import annotations

import argparse
import importlib
from collections.abc import Iterator

from pages.errors import messages

from celosia.cli.main import COMMANDS, command_parser

__all__ = ["API", "commands", "reference"]

#: Modules of the API, in the order of the page.
API = ("celosia", "celosia.driver", "celosia.program",
       "celosia.program.asm", "celosia.ops", "celosia.train", "celosia.compiled",
       "celosia.arch.config", "celosia.model", "celosia.collectives")


def commands() -> Iterator[tuple[str, argparse.ArgumentParser]]:
    """Return each command, and those inside of it, with its parser."""
    yield "celosia", command_parser()
    for chosen in COMMANDS:
        yield from (each for each in _inside("celosia", command_parser(chosen))
                    if f"{each[0]} ".startswith(f"celosia {chosen} "))


def _inside(name: str, parser: argparse.ArgumentParser
            ) -> Iterator[tuple[str, argparse.ArgumentParser]]:
    yield name, parser
    for action in parser._actions:
        if isinstance(action, argparse._SubParsersAction):
            for each, inner in action.choices.items():
                yield from _inside(f"{name} {each}", inner)


def _commands() -> str:
    lines = ["# Commands", "", "What each says to `--help`.", ""]
    for name, parser in commands():
        lines += [f"## {name}", "", "```text", parser.format_help().rstrip(), "```", ""]
    return "\n".join(lines)


def _api() -> str:
    """Return the page of the API: each object at the first module that has it."""
    lines = ["# API", "", "From the docstrings. Names that are not here are not for users.", ""]
    seen: set[int] = set()
    for name in API:
        module = importlib.import_module(name)
        names = [each for each in module.__all__ if id(getattr(module, each)) not in seen
                 and (callable(getattr(module, each)))]
        seen.update(id(getattr(module, each)) for each in module.__all__)
        lines += [f"## {name}", "", "```{eval-rst}", f".. automodule:: {name}"]
        lines += [f"   :members: {', '.join(names)}"] if names else ["   :no-members:"]
        lines += ["```", ""]
    return "\n".join(lines)


def reference() -> dict[str, str]:
    """Return these pages by name."""
    return {"api": _api(), "commands": _commands(), "messages": messages()}
