"""A few machine instructions, where Python must not be entered, or not be trusted to end well.

jaxlib destroys objects in places where Python code cannot run: while an exception is on its way
through a frame whose variables are arrays (what runs then must leave the exception as it is, which
a callback of ctypes does not), on threads of its own, and after the interpreter has ended. So what
destroys an object only links its cell, 8 bytes of memory whose address is the object's number, into
a list, and Python takes the list when it comes by.

An exception that leaves a callback of ctypes leaves C with what was in a register for a result. A
handler of a signal may raise one before the first instruction of a function. So C calls a guard,
which calls the callback, and finds the result in memory, or that there is none.
"""

from __future__ import annotations

import ctypes
import mmap
import platform
from collections.abc import Iterator, Sequence

__all__ = ["Graveyard", "available", "guards", "keep"]

#: Where addresses go in the code: that of the list's head, or of the callback; of
#: PyErr_SetInterruptEx; of the error where there is no result.
_FIRST, _SECOND, _THIRD = (bytes([0x11 * i]) * 8 for i in (1, 2, 3))
_X86_64 = (
    # destroy(args): links args->object, if it is not null nor to stay; returns 0.
    bytes.fromhex("4c8b4710")          # mov  r8, [rdi + 16]
    + bytes.fromhex("4d85c0")          # test r8, r8
    + bytes.fromhex("741d")            # jz   end
    + bytes.fromhex("498338ff")        # cmp  qword [r8], -1
    + bytes.fromhex("7417")            # je   end
    + bytes.fromhex("48ba") + _FIRST   # mov  rdx, head
    + bytes.fromhex("488b02")          # mov  rax, [rdx]
    + bytes.fromhex("498900")          # again: mov [r8], rax
    + bytes.fromhex("f04c0fb102")      # lock cmpxchg [rdx], r8
    + bytes.fromhex("75f6")            # jne  again
    + bytes.fromhex("31c0c3"),         # end: xor eax, eax; ret
    # take(): returns the list and leaves an empty one.
    bytes.fromhex("31c0")              # xor  eax, eax
    + bytes.fromhex("48ba") + _FIRST   # mov  rdx, head
    + bytes.fromhex("488702c3"),       # xchg [rdx], rax; ret
    # nothing(): returns 0.
    bytes.fromhex("31c0c3"),
    # guard(args): callback(args, place) until place[0] is not 1, a thousand times at most; then
    # trip(place[1]), if that is not 0; returns place[0], but the error where it is 1 or 2.
    bytes.fromhex("53 4154 4883ec18")  # push rbx; push r12; sub rsp, 24
    + bytes.fromhex("4889fb 41bce8030000")           # mov rbx, rdi; mov r12d, 1000
    + bytes.fromhex("48c7042401000000")              # again: mov qword [rsp], 1
    + bytes.fromhex("48c744240800000000")            # mov qword [rsp + 8], 0
    + bytes.fromhex("4889df 4889e6")                 # mov rdi, rbx; mov rsi, rsp
    + bytes.fromhex("48b8") + _FIRST + bytes.fromhex("ffd0")   # mov rax, callback; call rax
    + bytes.fromhex("48833c2401 7505")               # cmp qword [rsp], 1; jne made
    + bytes.fromhex("41ffcc 75d1")                   # dec r12d; jnz again
    + bytes.fromhex("8b7c2408 85ff 740c")            # made: mov edi, [rsp + 8]; test; jz end
    + bytes.fromhex("48b8") + _SECOND + bytes.fromhex("ffd0")  # mov rax, trip; call rax
    + bytes.fromhex("488b0424 488d50ff")             # end: mov rax, [rsp]; lea rdx, [rax - 1]
    + bytes.fromhex("4883fa01 770a")                 # cmp rdx, 1; ja out
    + bytes.fromhex("48b8") + _THIRD                 # mov rax, error
    + bytes.fromhex("4883c418 415c 5b c3"))          # out: add rsp, 24; pop r12; pop rbx; ret
_AARCH64 = (
    bytes.fromhex("080840f9 000080d2")    # destroy: ldr x8, [x0, #16]; mov x0, #0
    + bytes.fromhex("a80100b4 0a0140f9")  # cbz x8, end; ldr x10, [x8]
    + bytes.fromhex("5f0500b1 40010054")  # cmn x10, #1; b.eq end
    + bytes.fromhex("49010058")           # ldr x9, head
    + bytes.fromhex("2a0140f9 0a0100f9")  # again: ldr x10, [x9]; str x10, [x8]
    + bytes.fromhex("bf3b03d5 2b7d5fc8")  # dmb ish; ldxr x11, [x9]
    + bytes.fromhex("7f010aeb 61ffff54")  # cmp x11, x10; b.ne again
    + bytes.fromhex("28fd0cc8 2cffff35")  # stlxr w12, x8, [x9]; cbnz w12, again
    + bytes.fromhex("c0035fd6")           # end: ret
    + _FIRST,
    bytes.fromhex("c9000058 20fd5fc8")    # take: ldr x9, head; again: ldaxr x0, [x9]
    + bytes.fromhex("3ffd0cc8 ccffff35")  # stlxr w12, xzr, [x9]; cbnz w12, again
    + bytes.fromhex("c0035fd6 1f2003d5")  # ret; nop
    + _FIRST,
    bytes.fromhex("000080d2 c0035fd6"),   # nothing: mov x0, #0; ret
    bytes.fromhex("fd7bbda9 fd030091")    # guard: stp x29, x30, [sp, #-48]!; mov x29, sp
    + bytes.fromhex("f35301a9 f30300aa")  # stp x19, x20, [sp, #16]; mov x19, x0
    + bytes.fromhex("147d8052")           # mov w20, #1000
    + bytes.fromhex("290080d2 e97f02a9")  # again: mov x9, #1; stp x9, xzr, [sp, #32]
    + bytes.fromhex("e00313aa e1830091")  # mov x0, x19; add x1, sp, #32
    + bytes.fromhex("68020058 00013fd6")  # ldr x8, callback; blr x8
    + bytes.fromhex("e91340f9 3f0500f1")  # ldr x9, [sp, #32]; cmp x9, #1
    + bytes.fromhex("61000054")           # b.ne made
    + bytes.fromhex("94060071 c1feff54")  # subs w20, w20, #1; b.ne again
    + bytes.fromhex("e02b40b9 60000034")  # made: ldr w0, [sp, #40]; cbz w0, end
    + bytes.fromhex("88010058 00013fd6")  # ldr x8, trip; blr x8
    + bytes.fromhex("e01340f9 090400d1")  # end: ldr x0, [sp, #32]; sub x9, x0, #1
    + bytes.fromhex("3f0500f1 48000054")  # cmp x9, #1; b.hi out
    + bytes.fromhex("00010058")           # ldr x0, error
    + bytes.fromhex("f35341a9 fd7bc3a8")  # out: ldp x19, x20, [sp, #16]; ldp x29, x30, [sp], #48
    + bytes.fromhex("c0035fd6")           # ret
    + _FIRST + _SECOND + _THIRD)
#: ``destroy``, ``take``, ``nothing`` and ``guard`` of each processor, by what Python calls it.
_CODE = {"x86_64": _X86_64, "AMD64": _X86_64, "aarch64": _AARCH64, "arm64": _AARCH64}


def available() -> bool:
    """Whether there are instructions for this machine."""
    return platform.machine() in _CODE


def keep(thing: object) -> None:
    """Never free an object: its memory is used after the interpreter has ended."""
    ctypes.pythonapi.Py_IncRef(ctypes.py_object(thing))


def _code() -> tuple[bytes, bytes, bytes, bytes]:
    machine = platform.machine()
    if machine not in _CODE:
        raise RuntimeError(f"the machine must be one of {', '.join(_CODE)}, not {machine}")
    return _CODE[machine]


def _placed(codes: Sequence[bytes]) -> list[int]:
    """Write instructions into memory where they can be run; return where each begins."""
    codes = [code.ljust(-(-len(code) // 16) * 16, b"\0") for code in codes]
    size = -(-sum(map(len, codes)) // mmap.PAGESIZE) * mmap.PAGESIZE
    memory = mmap.mmap(-1, size, prot=mmap.PROT_READ | mmap.PROT_WRITE)
    keep(memory)
    begin = ctypes.addressof(ctypes.c_char.from_buffer(memory))
    places = []
    for code in codes:
        places.append(begin + memory.tell())
        memory.write(code)
    library = ctypes.CDLL(None, use_errno=True)
    if hasattr(library, "sys_icache_invalidate"):  # macOS; Linux does it in mprotect
        library.sys_icache_invalidate(ctypes.c_void_p(begin), ctypes.c_size_t(size))
    if library.mprotect(
            ctypes.c_void_p(begin), ctypes.c_size_t(size), mmap.PROT_READ | mmap.PROT_EXEC):
        raise RuntimeError(f"the machine must let a program run instructions that it writes, "
                           f"but mprotect failed with error {ctypes.get_errno()}")
    return places


def guards(callbacks: Sequence[int], error: int) -> list[int]:
    """Return functions of the PJRT API that call others and always have a result.

    Parameters
    ----------
    callbacks
        Addresses of functions of two addresses: of the arguments, and of two numbers of 64 bits.
        The first of these is 1; it must become 2 when the function begins what must be done once
        (where it stays 1 the function is called again), and the result at the end. The second is 0,
        or is made the number of a signal whose handler Python is to call soon after.
    error
        The result where there is none.

    Raises
    ------
    RuntimeError
        As of `Graveyard`.
    """
    trip = ctypes.cast(ctypes.pythonapi.PyErr_SetInterruptEx, ctypes.c_void_p).value or 0
    code = _code()[3].replace(_SECOND, trip.to_bytes(8, "little")).replace(
        _THIRD, error.to_bytes(8, "little"))
    return _placed([code.replace(_FIRST, each.to_bytes(8, "little")) for each in callbacks])


class Graveyard:
    """Cells of objects that were destroyed, until somebody asks for them.

    A cell that holds `STAYS` is never among them.

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

    STAYS = (1 << 64) - 1

    def __init__(self) -> None:
        code = _code()[:3]
        self._head = ctypes.c_size_t(0)
        keep(self._head)
        address = ctypes.addressof(self._head).to_bytes(8, "little")
        self.destroy, take, self.nothing = _placed(
            [each.replace(_FIRST, address) for each in code])
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
