"""The RTL under cocotb, in a process of its own, as a transport of the driver."""

import contextlib
import multiprocessing
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from celosia.arch.config import TpuConfig
from celosia.arch.words import WORD_MASK
from celosia.driver.errors import BusError
from celosia_sim.cocotb_build import build_simulator, simulator_environment
from celosia_sim.library import MEMORY_BYTES, ProtocolError
from celosia_sim.rtl import SimOptions
from celosia_sim.verilog import chip_verilog

__all__ = ["CocotbTransport"]

_SLICE_SECONDS = 0.2
#: That the simulation may take to begin, and for an answer: hundreds of times what it needs.
_ANSWER_SECONDS = 120.0


class CocotbTransport:
    """The chip's RTL under cocotb; implements the driver's Transport.

    Far slower than `celosia_sim.rtl.RtlTransport` (tens of thousands of cycles a second) and cycle
    for cycle equal to it: for checking one against the other, and for watching a program
    with cocotb's tools.

    Parameters
    ----------
    config, verilog
        As of RtlTransport.
    options
        Latencies and `max_outstanding` are used; the others must be as they are by default.
    """

    memory_bytes = MEMORY_BYTES

    def __init__(self, config: TpuConfig, options: SimOptions | None = None, *,
                 verilog: str | None = None):
        self.config = config
        self.options = options or SimOptions()
        o = self.options
        if o != SimOptions(read_latency=o.read_latency, write_latency=o.write_latency,
                           max_outstanding=o.max_outstanding, trace=o.trace):
            raise ValueError("under cocotb, options must differ from the defaults in latencies, "
                             f"max_outstanding and trace only, not {o!r}")
        text = chip_verilog(config) if verilog is None else verilog
        announce = None if not sys.stderr.isatty() else lambda line: print(line, file=sys.stderr)
        simulator = build_simulator(text, config, trace=o.trace_format, announce=announce)
        self._folder = Path(tempfile.mkdtemp(prefix="celosia-cocotb-"))
        self._log = self._folder / "simulation.log"
        ours, theirs = multiprocessing.Pipe()
        self._connection = ours
        arguments = [] if o.trace is None else [
            "--trace", "--trace-file", str(Path(o.trace).absolute())]
        from celosia_sim import cocotb_server

        environment = simulator_environment(cocotb_server.__name__, {
            cocotb_server.DESCRIPTOR: str(theirs.fileno()),
            cocotb_server.OPTIONS: f"{o.read_latency},{o.write_latency},{o.max_outstanding}",
            "COCOTB_RESULTS_FILE": str(self._folder / "results.xml"),
        })
        with self._log.open("wb") as log:
            # In a session of its own: Ctrl-C is for this process, which may go on after it.
            self._process: subprocess.Popen[bytes] | None = subprocess.Popen(
                [str(simulator), *arguments], cwd=self._folder, env=environment,
                pass_fds=[theirs.fileno()], stdin=subprocess.DEVNULL, stdout=log,
                stderr=subprocess.STDOUT, start_new_session=True)
        theirs.close()
        self.now = 0
        try:
            self._receive()
        except BaseException:
            self.close()
            raise

    def _receive(self):
        try:
            if self._connection.poll(_ANSWER_SECONDS):
                return self._connection.recv()
        except (EOFError, OSError):
            raise ProtocolError("the cocotb simulation ended; its log ends with\n  "
                                f"{self._tail()}") from None
        raise ProtocolError(f"no answer of the cocotb simulation within {_ANSWER_SECONDS:g} s; "
                            f"its log ends with\n  {self._tail()}")

    def _tail(self) -> str:
        return "\n  ".join(self._log.read_text(errors="replace").splitlines()[-15:])

    def _ask(self, *request):
        if self._process is None:
            raise RuntimeError(f"the simulated chip must be open for {request[0]}, "
                               f"but it was closed")
        with contextlib.suppress(OSError):  # a dead simulator is reported by _receive
            self._connection.send(request)
        try:
            return self._receive()
        except KeyboardInterrupt:
            self._receive()  # the answer to this request must not answer the next one
            raise

    def read_register(self, offset: int) -> int:
        """Return a register; BusError if the chip answers with an error."""
        status, value = self._ask("read_register", offset)
        if status:
            raise BusError(f"the chip must answer OKAY to a read of register {offset:#05x}, "
                           f"not {status}")
        return value

    def write_register(self, offset: int, value: int) -> None:
        """Write a register; BusError if the chip answers with an error."""
        if status := self._ask("write_register", offset, value & WORD_MASK):
            raise BusError(f"the chip must answer OKAY to a write of register {offset:#05x}, "
                           f"not {status}")

    def read_memory(self, address: int, size: int) -> NDArray[np.uint8]:
        """Return a copy of external memory."""
        return np.frombuffer(bytearray(self._ask("read_memory", address, size)), np.uint8)

    def write_memory(self, address: int, data: bytes | NDArray[np.uint8]) -> None:
        """Write bytes into external memory."""
        raw = data.tobytes() if isinstance(data, np.ndarray) else bytes(data)
        self._ask("write_memory", address, raw)

    def wait_interrupt(self, timeout_cycles: int | None,
                       progress: Callable[[int], None] | None = None) -> bool:
        """Run until the interrupt is high (True) or ``timeout_cycles`` have passed (False)."""
        first, size = None, 200
        while True:
            waited = 0 if first is None else self.now - first
            limit = size if timeout_cycles is None else min(size, timeout_cycles - waited)
            begin = time.perf_counter()
            raised, self.now = self._ask("run", max(1, limit))
            first = self.now - limit if first is None else first
            if raised:
                return True
            waited = self.now - first
            if timeout_cycles is not None and waited >= timeout_cycles:
                return False
            if progress:
                progress(waited)
            seconds = time.perf_counter() - begin
            size = max(100, min(2 * size, int(size * _SLICE_SECONDS / max(seconds, 1e-6))))

    def close(self) -> None:
        """End the simulator; closing twice does nothing."""
        process, self._process = self._process, None
        if process is None:
            return
        self._connection.close()
        try:
            process.wait(10)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
        shutil.rmtree(self._folder, ignore_errors=True)
