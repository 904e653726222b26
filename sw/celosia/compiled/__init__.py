"""Compiled programs: what the compiler makes, ready to be saved, loaded and called.

From the bottom up: parts, steps and description (what a compiled program says of itself: steps of
the chip and of the host), expected (what a run will cost), report (both for people), file (how it
is kept), arguments (arrays as the chip has them), executable (the program on a device), artifact
(all of these as one object), reader (files as objects again), loaded (programs that
share a device).
"""

from celosia.compiled.artifact import Compiled
from celosia.compiled.executable import Executable, Resident
from celosia.compiled.loaded import Loaded
from celosia.compiled.reader import load, read

__all__ = ["Compiled", "Executable", "Loaded", "Resident", "load", "read"]
