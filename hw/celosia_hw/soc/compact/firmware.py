"""The firmware: from C to the words of the sequencer's RAM.

``python -m celosia_hw.soc.compact.firmware`` builds the images in ``firmware/`` again, which are
what bitstreams are made of: nobody who makes one needs a compiler.
"""

import importlib.util
import struct
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from celosia.arch.config import TpuConfig
from celosia.arch.link import PAGE_BYTES, LinkConfig

__all__ = ["BF16", "CONFIG_BYTE", "FOLDER", "INT8", "FirmwareError", "Section", "Variant", "build",
           "compile_elf", "config_words", "image", "sections", "variant"]

#: The sources.
FOLDER = Path(__file__).parent / "firmware"
#: Place of `struct config` in the image.
CONFIG_BYTE = 16
#: Lanes that the sources have room for (execute.h).
_MAX_DIM = 8
#: Likewise with bf16, of whose tile no more has a place among the engine's registers.
_MAX_BF16_DIM = 4
#: Of the sequencer's address space, for external memory.
_MEMORY_LIMIT = 1 << 28

_HOST_ONLY = ("host.c",)
_FLAGS = ("-target", "riscv32-freestanding-none", "-mcpu=generic_rv32+zmmul+relax-m-a-c-d-f",
          "-std=c11", "-Oz", "-flto", "-ffreestanding", "-fno-sanitize=all", "-nostdlib",
          "-Wall", "-Wextra", "-Werror")
_PROGBITS, _NOBITS, _ALLOCATED = 1, 8, 2


class FirmwareError(RuntimeError):
    """The firmware cannot be built; the message holds what the compiler said."""


class Variant(NamedTuple):
    """What the firmware is built for."""

    #: The image, which `build` made.
    image: Path
    #: Of the sequencer's RAM.
    ram_bytes: int
    flags: tuple[str, ...]


#: For chips of int8 alone, and for those with bf16 too.
INT8 = Variant(FOLDER / "firmware.bin", 1 << 14, ())
BF16 = Variant(FOLDER / "firmware_bf16.bin", 1 << 15, ("-DCELOSIA_BF16",))


def variant(config: TpuConfig) -> Variant:
    """Return the firmware for a chip."""
    return BF16 if config.bf16 else INT8


@dataclass(frozen=True)
class Section:
    """A part of the RAM; ``data`` is empty where it is only cleared."""

    name: str
    address: int
    size: int
    data: bytes


def compile_elf(made: Variant, folder: Path) -> bytes:
    """Compile the sources for the sequencer, in ``folder``, and return the linked program.

    Raises
    ------
    FirmwareError
        If the compiler is not there, or refuses.
    """
    if importlib.util.find_spec("ziglang") is None:
        raise FirmwareError("the package ziglang must be installed to build the firmware: "
                            "pip install 'celosia[sim]'")
    sources = [path for path in sorted(FOLDER.glob("*.c")) if path.name not in _HOST_ONLY]
    elf = folder / "firmware.elf"
    result = subprocess.run(
        [sys.executable, "-m", "ziglang", "cc", *_FLAGS, *made.flags, *map(str, sources),
         f"-DRAM_BYTES={made.ram_bytes}", str(FOLDER / "start.S"), "-T", str(FOLDER / "link.ld"),
         "-o", str(elf)],
        capture_output=True, text=True, cwd=folder)
    if result.returncode or result.stderr.strip():
        raise FirmwareError(f"the sources in {FOLDER} must compile without a warning, but:\n"
                            f"{result.stderr.strip()[:4000]}")
    return elf.read_bytes()


def sections(elf: bytes) -> list[Section]:
    """Return what a linked program has in the RAM, by address."""
    at, = struct.unpack_from("<I", elf, 0x20)
    entry_bytes, count, names = struct.unpack_from("<HHH", elf, 0x2E)
    entries = [struct.unpack_from("<6I", elf, at + i * entry_bytes) for i in range(count)]
    found = []
    for name, kind, flags, address, offset, size in entries:
        if flags & _ALLOCATED and size and kind in (_PROGBITS, _NOBITS):
            text = elf[entries[names][4] + name:].split(b"\0", 1)[0].decode()
            data = elf[offset:offset + size] if kind == _PROGBITS else b""
            found.append(Section(text, address, size, data))
    return sorted(found, key=lambda section: section.address)


def build(made: Variant, folder: Path) -> bytes:
    """Compile the sources, in ``folder``; return the image: the RAM from address 0 on.

    Raises
    ------
    FirmwareError
        If that fails.
    """
    result = bytearray()
    for section in sections(compile_elf(made, folder)):
        if section.data:
            result[len(result):] = bytes(section.address - len(result)) + section.data
    return bytes(result) + bytes(-len(result) % 4)


def config_words(config: TpuConfig, link: LinkConfig) -> list[int]:
    """Return the words of `struct config` (firmware/machine.h).

    Raises
    ------
    ValueError
        If the firmware is not for such a chip, or such a memory.
    """
    if not config.int8:
        raise ValueError("formats of a compact chip must be int8, or int8 and bf16, not bf16")
    limit = _MAX_BF16_DIM if config.bf16 else _MAX_DIM
    if config.dim > limit:
        raise ValueError(f"dim of a compact chip with {' and '.join(config.formats)} must be at "
                         f"most {limit}, not {config.dim!r}")
    size = link.memory_bytes
    if size & (size - 1) or not PAGE_BYTES <= size <= _MEMORY_LIMIT:
        raise ValueError("memory_bytes of a compact chip must be a power of two from "
                         f"{PAGE_BYTES} to {_MEMORY_LIMIT}, not {size!r}")
    return [config.fingerprint, config.dim, config.int8 | config.bf16 << 1, config.ub_rows,
            config.acc_rows, config.bus_bytes, config.window, config.ibuf, size,
            link.buffer_bytes, config.dim.bit_length() - 1, 0]


def image(config: TpuConfig, link: LinkConfig) -> list[int]:
    """Return the words of the RAM, from address 0 on, for a chip and a board; the rest is 0."""
    data = variant(config).image.read_bytes()
    words = list(struct.unpack(f"<{len(data) // 4}I", data))
    chosen = config_words(config, link)
    words[CONFIG_BYTE // 4:CONFIG_BYTE // 4 + len(chosen)] = chosen
    return words


def main() -> int:
    """Build the images again, and say how large their parts are."""
    for made in (INT8, BF16):
        with tempfile.TemporaryDirectory() as folder:
            data = build(made, Path(folder))
            parts = sections((Path(folder) / "firmware.elf").read_bytes())
        same = made.image.exists() and made.image.read_bytes() == data
        print(f"{made.image.name}: {len(data)} bytes, {'as it was' if same else 'new'}")
        for section in parts:
            print(f"  {section.name:10} {section.address:#07x} {section.size:6} bytes")
        used = max(section.address + section.size for section in parts)
        print(f"  {'stack':10} {used:#07x} {made.ram_bytes - used:6} bytes")
        made.image.write_bytes(data)
    return 0


if __name__ == "__main__":
    sys.exit(main())
