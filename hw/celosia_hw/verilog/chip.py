"""Verilog of the chip, of a chip on a board, and of the host link alone."""

from celosia.arch.config import TpuConfig
from celosia.arch.link import MODULE_NAME, LinkConfig
from celosia_hw import top
from celosia_hw.soc import system
from celosia_hw.soc.link.host_link import HostLink
from celosia_hw.soc.system import System, SystemConfig
from celosia_hw.top import Celosia
from celosia_hw.verilog.emit import WriteGrid, instances, verilog

__all__ = ["chip_verilog", "link_verilog", "system_verilog"]


def _without_ports(config: TpuConfig) -> TpuConfig:
    if config.ports:
        raise ValueError(f"TpuConfig.ports of a chip on a board must be 0, not {config.ports}: "
                         "boards have no links")
    return config


def chip_verilog(config: TpuConfig, *, write_grid: WriteGrid = instances,
                 probed: bool = False) -> str:
    """Verilog of the chip, module `celosia_hw.top.MODULE_NAME`; the same for the same arguments.

    Parameters
    ----------
    write_grid
        The form of grids, see `celosia_hw.verilog.emit.verilog`: that for synthesis if not given.
    probed
        With the pin ``probe``, see `celosia_hw.top.Celosia`.
    """
    return verilog(Celosia(config, probed=probed), name=top.MODULE_NAME,
                   write_grid=write_grid)


def system_verilog(config: TpuConfig, around: SystemConfig, *,
                   write_grid: WriteGrid = instances) -> str:
    """Verilog of the chip with memory and link, module `celosia_hw.soc.system.MODULE_NAME`.

    Parameters
    ----------
    write_grid
        As of `chip_verilog`.
    """
    return verilog(System(_without_ports(config), around), name=system.MODULE_NAME,
                   write_grid=write_grid)


def link_verilog(config: TpuConfig, link: LinkConfig) -> str:
    """Verilog of the link, module `celosia.arch.link.MODULE_NAME`."""
    return verilog(HostLink(config, link), name=MODULE_NAME)
