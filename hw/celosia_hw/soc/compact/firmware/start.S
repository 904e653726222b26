# Where the processor begins: address 0. The configuration follows at 16.

    .globl ram_bytes  // for link.ld
    .set ram_bytes, RAM_BYTES

    .section .start, "ax"
    .globl _start
_start:
    j begin
    .balign 16, 0

    .globl config
config:
    .zero 48

# Nothing in memory is taken for what it was at power-on but the code and the constants.
begin:
    la sp, stack_top
    la a0, bss_begin
    la a1, bss_end
1:  bgeu a0, a1, 2f
    sw zero, 0(a0)
    addi a0, a0, 4
    j 1b
2:  j firmware_main
