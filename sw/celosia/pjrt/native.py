"""A few machine instructions, for calls that must not enter Python.

jaxlib destroys objects in places where Python code cannot run: while an exception is on its way
through a frame whose variables are arrays (what runs then must leave the exception as it is, which
a callback of ctypes does not), on threads of its own, and after the interpreter has ended. So what
destroys an object only links its cell, 8 bytes of memory whose address is the object's number, into
a list, and Python takes the list when it comes by.
"""

from __future__ import annotations

import ctypes
import mmap
import platform
from collections.abc import Iterator

__all__ = ["Graveyard", "available", "keep"]

#: Where the address of the list's head goes in the code.
_HEAD = bytes(8)
_X86_64 = (
    # destroy(args): links args->object, if it is not null; returns 0.
    bytes.fromhex("4c8b4710")          # mov  r8, [rdi + 16]
    + bytes.fromhex("4d85c0")          # test r8, r8
    + bytes.fromhex("7417")            # jz   end
    + bytes.fromhex("48ba") + _HEAD    # mov  rdx, head
    + bytes.fromhex("488b02")          # mov  rax, [rdx]
    + bytes.fromhex("498900")          # again: mov [r8], rax
    + bytes.fromhex("f04c0fb102")      # lock cmpxchg [rdx], r8
    + bytes.fromhex("75f6")            # jne  again
    + bytes.fromhex("31c0c3"),         # end: xor eax, eax; ret
    # take(): returns the list and leaves an empty one.
    bytes.fromhex("31c0")              # xor  eax, eax
    + bytes.fromhex("48ba") + _HEAD    # mov  rdx, head
    + bytes.fromhex("488702c3"),       # xchg [rdx], rax; ret
    # nothing(): returns 0.
    bytes.fromhex("31c0c3"))
_AARCH64 = (
    bytes.fromhex("080840f9 000080d2")    # destroy: ldr x8, [x0, #16]; mov x0, #0
    + bytes.fromhex("480100b4 69010058")  # cbz x8, end; ldr x9, head
    + bytes.fromhex("2a0140f9 0a0100f9")  # again: ldr x10, [x9]; str x10, [x8]
    + bytes.fromhex("bf3b03d5 2b7d5fc8")  # dmb ish; ldxr x11, [x9]
    + bytes.fromhex("7f010aeb 61ffff54")  # cmp x11, x10; b.ne again
    + bytes.fromhex("28fd0cc8 2cffff35")  # stlxr w12, x8, [x9]; cbnz w12, again
    + bytes.fromhex("c0035fd6 1f2003d5")  # end: ret; nop
    + _HEAD,
    bytes.fromhex("c9000058 20fd5fc8")    # take: ldr x9, head; again: ldaxr x0, [x9]
    + bytes.fromhex("3ffd0cc8 ccffff35")  # stlxr w12, xzr, [x9]; cbnz w12, again
    + bytes.fromhex("c0035fd6 1f2003d5")  # ret; nop
    + _HEAD,
    bytes.fromhex("000080d2 c0035fd6"))   # nothing: mov x0, #0; ret
#: ``destroy``, ``take`` and ``nothing`` of each processor, by what Python calls it.
_CODE = {"x86_64": _X86_64, "AMD64": _X86_64, "aarch64": _AARCH64, "arm64": _AARCH64}


def available() -> bool:
    """Whether there are instructions for this machine."""
    return platform.machine() in _CODE


def keep(thing: object) -> None:
    """Never free an object: its memory is used after the interpreter has ended."""
    ctypes.pythonapi.Py_IncRef(ctypes.py_object(thing))


class Graveyard:
    """Cells of objects that were destroyed, until somebody asks for them.

    Attributes
    ----------
    destroy
        Address of the function of the PJRT API that destroys any object.
    nothing
        Address of one that does nothing.

    Raises
    ------
    RuntimeError
        If there are no instructions for this machine, or it does not let them be run.
    """

    def __init__(self) -> None:
        machine = platform.machine()
        if machine not in _CODE:
            raise RuntimeError(f"the machine must be one of {', '.join(_CODE)}, not {machine}")
        self._head = ctypes.c_size_t(0)
        address = ctypes.addressof(self._head).to_bytes(8, "little")
        self._memory = mmap.mmap(-1, mmap.PAGESIZE, prot=mmap.PROT_READ | mmap.PROT_WRITE)
        begin = ctypes.addressof(ctypes.c_char.from_buffer(self._memory))
        keep(self._memory)
        keep(self._head)
        places = []
        for code in _CODE[machine]:
            places.append(begin + self._memory.tell())
            code = code.replace(_HEAD, address)
            self._memory.write(code.ljust(-(-len(code) // 16) * 16, b"\0"))
        library = ctypes.CDLL(None, use_errno=True)
        if hasattr(library, "sys_icache_invalidate"):  # macOS; Linux does it in mprotect
            library.sys_icache_invalidate(ctypes.c_void_p(begin), ctypes.c_size_t(mmap.PAGESIZE))
        if library.mprotect(
                ctypes.c_void_p(begin), ctypes.c_size_t(mmap.PAGESIZE),
                mmap.PROT_READ | mmap.PROT_EXEC):
            raise RuntimeError(f"the machine must let a program run instructions that it writes, "
                               f"but mprotect failed with error {ctypes.get_errno()}")
        self.destroy, take, self.nothing = places
        self._take = ctypes.PYFUNCTYPE(ctypes.c_size_t)(take)

    def __bool__(self) -> bool:
        """Whether there are any."""
        return self._head.value != 0

    def take(self) -> Iterator[int]:
        """Yield the addresses of the cells, each once."""
        cell = self._take()
        while cell:
            rest = ctypes.c_size_t.from_address(cell).value
            yield cell
            cell = rest
