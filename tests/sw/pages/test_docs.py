import subprocess
import sys
from pathlib import Path

DOCS = Path(__file__).parents[3] / "scripts" / "docs"


def test_pages_are_as_the_sources_say():
    """All of them, in a fresh process: whether a program of StableHLO's quantised numbers can be
    read, which one of them says, hangs on what else has run in a process.
    """
    done = subprocess.run([sys.executable, DOCS, "--check"], capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "")
