"""Compiled programs: what the compiler makes, ready to be saved, loaded and called.

In the order of a program's life: parts (what a compiled program says of itself), artifact (the
program as an object), expected (what a run will cost), file (how it is kept), arguments (arrays as
the chip has them), executable (the program on a device), mixed (programs of which a part runs on
the host).
"""

from celosia.compiled.artifact import Compiled
from celosia.compiled.executable import Executable, Resident
from celosia.compiled.file import load
from celosia.compiled.mixed import Mixed

__all__ = ["Compiled", "Executable", "Mixed", "Resident", "load"]
