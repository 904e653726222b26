"""RTL chips and the links between them, in this process or spread over several.

A `PodBoard` is some chips of a pod in one process; links that lead to another board go by a socket,
as far as each of the two has come. `RtlPod` is all boards of a pod together.
"""

from typing import TYPE_CHECKING

from celosia.arch.names import on_demand

if TYPE_CHECKING:
    from celosia_sim.pod.board import PodBoard, PodBoardError
    from celosia_sim.pod.options import PodOptions
    from celosia_sim.pod.rtl import RtlPod

__all__ = ["PodBoard", "PodBoardError", "PodOptions", "RtlPod"]

#: Module to the names above that it has. The process of a board wants no other boards.
_NAMES = {
    "board": ("PodBoard", "PodBoardError"),
    "options": ("PodOptions",),
    "rtl": ("RtlPod",),
}

__getattr__, __dir__ = on_demand(__name__, _NAMES)
