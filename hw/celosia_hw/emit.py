"""Verilog of a component, with a repeated module written once.

Amaranth writes every instance of a component as a module of its own. A component that is
instantiated many times is added with :func:`instantiate` instead of ``m.submodules``: in Amaranth's
simulator it is an ordinary submodule, in Verilog one module and many instances of it.
"""

from amaranth._toolchain.yosys import find_yosys
from amaranth.back import rtlil
from amaranth.hdl import ClockSignal, Instance, Module, ResetSignal
from amaranth.lib import wiring

__all__ = ["Emission", "instantiate", "verilog"]

#: ``opt_dff`` turns hold multiplexers into flip-flop enables: Verilator simulates those five times
#: faster than what Amaranth's own script writes.
_PASSES = (
    "proc -norom", "opt_expr", "opt_clean", "opt_dff", "opt_clean", "memory_collect",
    "attrmap -remove generator -remove top -remove src -remove amaranth.hierarchy "
    "-remove amaranth.decoding",
)


class Emission:
    """The platform that components are elaborated with when Verilog is written.

    Collects the components that are to be modules of their own. Two components with the same module
    name must be equal; the first is converted.
    """

    def __init__(self) -> None:
        self._queue: list[tuple[str, wiring.Component]] = []
        self._seen: set[str] = set()

    def add(self, name: str, component: wiring.Component) -> None:
        """Ask for ``component`` to be converted to the module ``name``."""
        if name not in self._seen:
            self._seen.add(name)
            self._queue.append((name, component))

    def convert(self, name: str, component: wiring.Component) -> str:
        """RTLIL of ``component`` as module ``name``, and of every module it asks for."""
        self.add(name, component)
        texts = []
        while self._queue:
            module, item = self._queue.pop(0)
            texts.append(rtlil.convert(item, name=module, platform=self, emit_src=False))
        return "\n".join(texts)


def _ports(component: wiring.Component):
    """Yield direction letter, Verilog name and value of every port of ``component``."""
    for path, member, value in component.signature.flatten(component):
        letter = "i" if member.flow == wiring.In else "o"
        yield letter, "__".join(map(str, path)), value


def instantiate(m: Module, platform, component: wiring.Component, *, module: str, name: str) -> None:
    """Add ``component`` to ``m`` as submodule ``name``.

    Parameters
    ----------
    platform
        What ``elaborate`` was given.
    module
        Name of the Verilog module. Components with the same module name are one module, so they must
        be made with the same parameters. Uses the ``sync`` domain at least once.
    """
    if not isinstance(platform, Emission):
        m.submodules[name] = component
        return
    platform.add(module, component)
    ports = {f"{letter}_{port}": value for letter, port, value in _ports(component)}
    m.submodules[name] = Instance(
        module, i_clk=ClockSignal(), i_rst=ResetSignal(), **ports)
    # The component itself is elaborated only for the first instance.
    component._MustUse__silence = True  # type: ignore[attr-defined]


def verilog(component: wiring.Component, *, name: str) -> str:
    """Verilog text of ``component`` as the module ``name``.

    Ports are the members of its signature, joined by ``__``, with ``clk`` and ``rst``. The text is
    the same for the same component.
    """
    text = Emission().convert(name, component)
    yosys = find_yosys(lambda version: version >= (0, 40))
    script = "\n".join((f"read_rtlil <<rtlil\n{text}\nrtlil", *_PASSES,
                        "write_verilog -norename -noattr"))
    return yosys.run(["-q", "-"], script, ignore_warnings=True)
