"""Files of the user: where results go, the folder of what need not be made again, and the compilers
of C and C++ whose builds it keeps.
"""

from celosia.storage.compilers import (
    Compiler,
    ToolchainError,
    compiler,
    package_folder,
    run_tool,
)

__all__ = ["Compiler", "ToolchainError", "compiler", "package_folder", "run_tool"]
