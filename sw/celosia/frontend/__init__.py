"""Programs of other frameworks as graphs; what they need is imported when they run."""

from celosia.frontend.errors import FrontendError
from celosia.frontend.stablehlo import Spmd, import_spmd, import_stablehlo

__all__ = ["FrontendError", "Spmd", "import_spmd", "import_stablehlo"]
