// The firmware's loop: the host's requests, and between them the run.

#include "chip.h"

struct chip chip;

void end_run(uint32_t status) {
    if (chip.status == STATUS_RUNNING) {
        uint64_t now = cycle_counter();
        chip.cycles = now - chip.started;
        if (chip.busy_unit != NUM_UNITS) {
            chip.busy[chip.busy_unit] += now - chip.busy_since;
            chip.busy_unit = NUM_UNITS;
        }
        chip.irq_status = 1;
    }
    chip.status = status;
}

// Cycles after which the watchdog is looked at again, where it does not expire before.
#define FAR (1u << 30)

// When it is looked at, mod 2**32: service() compares no more than that.
static uint32_t look_at;

void watch(void) { look_at = cycles_low(); }

// These two are seldom called; not inlined, they leave service() without registers to save.
static __attribute__((noinline)) bool take(int byte) {
    link_take(byte);
    return chip.status != STATUS_RUNNING;
}

static __attribute__((noinline)) bool look(void) {
    uint32_t wait = FAR;
    uint64_t now = cycle_counter();
    if (chip.status != STATUS_RUNNING) {
        return true;
    }
    if (chip.watchdog) {
        uint64_t spent = now - chip.started;
        if (spent >= chip.watchdog) {
            chip.fault_cause = FAULT_WATCHDOG;
            chip.fault_pc = chip.pc;
            chip.fault_addr = 0;
            end_run(STATUS_FAULTED);
            return true;
        }
        if (chip.watchdog - (uint32_t)spent < wait) {
            wait = chip.watchdog - (uint32_t)spent;
        }
    }
    look_at = (uint32_t)now + wait;
    return false;
}

bool service(void) {
    int byte = uart_receive();
    if (byte >= 0) {
        return take(byte);
    }
    if ((int32_t)(cycles_low() - look_at) >= 0) {
        return look();
    }
    return chip.status != STATUS_RUNNING;
}

// What the board's reset leaves where it is not 0.
static void power_on(void) {
    for (int i = 0; i < NUM_WINDOWS; i++) {
        chip.window_base[i] = 1;
    }
    chip.busy_unit = NUM_UNITS;
    link_reset();
}

int firmware_main(void) {
    power_on();
    for (;;) {
        bool stopped = service();
        if (chip.reset) {
            chip_reset();
        } else if (!stopped) {
            chip_step();
        }
    }
}
