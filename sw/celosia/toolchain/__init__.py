"""Compilers of C and C++, and the folder of what they have built: simulators, the plugin's library.

compilers finds them and runs them; builds keeps what they make from run to run.
"""

from celosia.toolchain.compilers import (
    Compiler,
    ToolchainError,
    compiler,
    package_folder,
    run_tool,
)

__all__ = ["Compiler", "ToolchainError", "compiler", "package_folder", "run_tool"]
