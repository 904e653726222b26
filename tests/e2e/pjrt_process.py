"""Programs of JAX in a process of their own, with the chip as their device."""

import os
import subprocess
import sys
import textwrap

_TIMEOUT = 120


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
    text = "import jax, jax.numpy as jnp, numpy as np\n" + textwrap.dedent(program)
    environment = {name: value for name, value in os.environ.items()
                   if not name.startswith("CELOSIA_") or name == "CELOSIA_CACHE"}
    environment |= {"JAX_PLATFORMS": platforms}
    environment |= {f"CELOSIA_{name}": value for name, value in settings.items()}
    ended = subprocess.run([sys.executable, "-X", "faulthandler", "-c", text], text=True,
                           capture_output=True, timeout=timeout, env=environment)
    assert ended.returncode == code, f"exit code {ended.returncode}:\n{ended.stdout}{ended.stderr}"
    return ended
