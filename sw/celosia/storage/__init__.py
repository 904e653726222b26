"""Where results go, what is kept so as not to be made again, and the compilers of it."""

from celosia.storage.compilers import (
    Compiler,
    ToolchainError,
    compiler,
    package_folder,
    run_tool,
)

__all__ = ["Compiler", "ToolchainError", "compiler", "package_folder", "run_tool"]
