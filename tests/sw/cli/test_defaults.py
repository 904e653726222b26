"""What a command does where it is told nothing else."""

import argparse
from pathlib import Path

import pytest

from celosia.cli.main import COMMANDS, command_parser

DEFAULTS = {
    "": {"debug": False},
    "info": {"json": False},
    "compile": {"strict": False, "fast": False, "no_cache": False},
    "report": {"strict": False, "fast": False, "no_cache": False, "json": False},
    "profile": {"strict": False, "fast": False, "no_cache": False, "what_if": [], "mhz": 100,
                "tolerance": 0, "json": False, "backend": "model", "random": 0, "html": False},
    "debug diverge": {"input": [], "random": 0, "strict": False, "fast": False, "no_cache": False,
                      "against": "model"},
    "debug nan": {"input": [], "random": 0, "preset": "core"},
    "debug oom": {"strict": False, "fast": False, "no_cache": False, "memory": "4294963200"},
    "debug fault": {"input": [], "random": 0, "strict": False, "fast": False, "no_cache": False},
    "debug run": {"input": [], "random": 0, "strict": False, "fast": False, "no_cache": False,
                  "breaks": [], "watch": []},
    "disasm": {"no_data": False},
    "pod start": {"boards": 2},
    "pod status": {"json": False},
    "pod train": {"topology": "2x2", "steps": 100, "batch": 16, "hidden": 128, "backend": "model",
                  "preset": "core", "latency": "64", "ber": 0.0, "seed": 0, "boards": 1,
                  "json": False},
    "run": {"input": [], "dump": [], "save": [], "reserve": 0, "timeout": 1_000_000_000,
            "json": False},
    "serve": {"host": "127.0.0.1", "port": 8080, "backend": "model", "fast": False,
              "max_queue": 256, "max_connections": 16, "max_body": 16 << 20, "timeout": 30.0,
              "wait": 2.0, "no_check": False},
    "smi": {"json": False},
    "top": {"every": 1.0},
    "verilog": {"preset": "core", "one_file": False, "simulation": False},
    "fpga boards": {"json": False},
    "fpga build": {"json": False, "sources": False, "synth_only": False, "program": False,
                   "flash": False},
    "fpga budget": {"board": "ulx3s", "json": False},
    "demo": {"train": False, "batch": 128, "picture": Path("training.png")},
    "bench": {"backend": "rtl", "m": 256, "k": 256, "n": 256, "transpose_a": False,
              "transpose_b": False, "epilogue": False, "layers": (784, 512, 10), "batch": 128,
              "rows": 1024, "topology": "8", "op": ["all_reduce"], "bytes": [65536],
              "latency": 64, "ber": 0.0, "curve": False, "plan": False, "boards": 1, "runs": 5,
              "fast": False, "seed": 0, "no_check": False, "json": False},
}


def commands(parser, name=""):
    """Iterate over the commands of a parser, each with the options that have a value."""
    found = {}
    for action in parser._actions:
        if isinstance(action, argparse._SubParsersAction):
            for word, sub in action.choices.items():
                yield from commands(sub, f"{name} {word}".strip())
        elif action.default not in (None, argparse.SUPPRESS):
            found[action.dest] = action.default
    yield name, found


def defaults():
    return {name: found for chosen in COMMANDS
            for name, found in commands(command_parser(chosen)) if found}


@pytest.mark.parametrize("name", DEFAULTS)
def test_defaults(name):
    assert defaults()[name] == DEFAULTS[name]


def test_every_command_is_here():
    assert defaults().keys() == DEFAULTS.keys()
