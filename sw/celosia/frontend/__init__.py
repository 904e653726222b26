"""Programs of other frameworks as graphs; what they need is imported when they run."""

from celosia.frontend.errors import FrontendError
from celosia.frontend.stablehlo import import_stablehlo

__all__ = ["FrontendError", "import_stablehlo"]
