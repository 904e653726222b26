"""The whole RTL of a chip as WebAssembly, for browsers and Node."""

from celosia_sim.wasm.build import WasmChip, build_wasm

__all__ = ["WasmChip", "build_wasm"]
