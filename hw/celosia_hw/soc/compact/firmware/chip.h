// State of the chip as the host sees it, and what the parts of the firmware do for each other.

#ifndef CELOSIA_CHIP_H
#define CELOSIA_CHIP_H

#include "machine.h"

struct chip {
    // Registers of the host (celosia.arch.registers).
    uint32_t status;
    uint32_t irq_enable, irq_status;
    uint32_t program, length, watchdog;
    uint32_t fault_cause, fault_pc, fault_addr;
    uint32_t pc;
    uint32_t window_base[NUM_WINDOWS], window_last[NUM_WINDOWS];
    // Counters of the last run.
    uint64_t started;              // cycle_counter() when it began
    uint64_t cycles;               // of a run that has ended
    uint64_t busy[NUM_UNITS];      // cycles that each tensor unit's instructions took
    uint32_t busy_unit;            // unit whose instruction is executed now, or NUM_UNITS
    uint64_t busy_since;
    uint64_t instructions, bytes_read, bytes_written;
    // The host wants the run to end: soft reset.
    bool reset;
};

extern struct chip chip;

// execute.c: programs.
void chip_start(void);      // begins a run: STATUS is RUNNING, state of the last one forgotten
void chip_step(void);       // executes one instruction of a run; may end it (DONE or FAULTED)
void chip_reset(void);      // soft reset: as docs/chip.md says; UB and ACC stay as they are

// main.c: called by execute.c after every row or so of a long instruction. Serves the host.
// true: stop the instruction where it is, for the host has reset the chip or the watchdog expired.
bool service(void);
// main.c: a run has begun; service() keeps an eye on the watchdog from now on.
void watch(void);
// main.c: a run, if one goes on, ends with this STATUS: cycles, the running unit's share of them
// (busy_unit becomes NUM_UNITS) and the interrupt. The caller has set the FAULT registers.
void end_run(uint32_t status);

// registers.c: the register file. false: the access is answered with SLVERR.
bool register_read(uint32_t offset, uint32_t *word);
bool register_write(uint32_t offset, uint32_t word);
bool interrupt(void);       // level of the interrupt line

// link.c: the host link (docs/link.md).
void link_reset(void);
void link_take(int byte);   // a byte of the wire, and what else has come: at most one request

#endif
