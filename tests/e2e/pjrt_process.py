"""Programs of JAX in processes of their own, with the chip as their device."""

import os
import socket
import subprocess
import sys
import textwrap
from collections.abc import Mapping

from e2e.forks import run_code

_TIMEOUT = 120
_IMPORTS = "import jax, jax.numpy as jnp, numpy as np\n"
_JOIN = """me = {index}
jax.distributed.initialize("127.0.0.1:{port}", {count}, me, initialization_timeout=60)
"""


def environment(platforms: str, settings: Mapping[str, str]) -> dict[str, str]:
    """Return the environment of a process; settings as of `run`."""
    found = {name: value for name, value in os.environ.items()
                   if not name.startswith("CELOSIA_") or name == "CELOSIA_CACHE"}
    found |= {"JAX_PLATFORMS": platforms}
    return found | {f"CELOSIA_{name}": value for name, value in settings.items()}


def free_port() -> int:
    """Return a port of the loopback that nobody has just now."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        return server.getsockname()[1]


def run(program: str, *, code: int = 0, timeout: float = _TIMEOUT, platforms: str = "celosia",
        **settings: str) -> subprocess.CompletedProcess[str]:
    """Run a program and return what it printed; it must end with an exit code.

    Parameters
    ----------
    program
        Python; ``jax``, ``jnp`` and ``np`` are there.
    code, timeout
        How it must end, and after how many seconds at most.
    platforms
        JAX_PLATFORMS.
    settings
        Other variables of the environment, ``CELOSIA_`` left out.
    """
    text = _IMPORTS + textwrap.dedent(program)
    ended = run_code(text, environment(platforms, settings), timeout)
    assert ended.returncode == code, f"exit code {ended.returncode}:\n{ended.stdout}{ended.stderr}"
    return ended


def run_together(program: str, *, count: int = 2, timeout: float = _TIMEOUT,
                 only: Mapping[int, Mapping[str, str]] | None = None,
                 **settings: str) -> list[subprocess.CompletedProcess[str]]:
    """Run a program in several processes that `jax.distributed` connects; none is left.

    Parameters
    ----------
    program
        Python; ``me`` is the number of the process.
    count
        Of processes.
    timeout
        Seconds for all of them.
    only
        Settings of one process.
    settings
        As of `run`.

    Returns
    -------
    processes
        How each one has ended.
    """
    port, started = free_port(), []
    try:
        for index in range(count):
            text = (_IMPORTS + _JOIN.format(port=port, count=count, index=index)
                    + textwrap.dedent(program))
            started.append(subprocess.Popen(
                [sys.executable, "-u", "-c", text], text=True, stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                env=environment("celosia", {**settings, **(only or {}).get(index, {})})))
        said = [process.communicate(timeout=timeout) for process in started]
    finally:
        for process in started:
            process.kill()
            process.wait()
    return [subprocess.CompletedProcess(process.args, process.returncode, *texts)
            for process, texts in zip(started, said, strict=True)]
