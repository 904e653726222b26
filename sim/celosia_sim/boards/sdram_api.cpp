// C interface of the SDRAM model, for celosia_sim.boards.sdram (ctypes).
#include "sdram.h"

using board::Sdram;

extern "C" {

Sdram* sdram_new(const board::SdramPart* part) { return new Sdram(*part); }
void sdram_free(Sdram* sdram) { delete sdram; }

// `levels`: clk, cke, cs_n, ras_n, cas_n, we_n from the lowest bit on.
void sdram_pins(Sdram* sdram, int64_t now, uint32_t levels, uint32_t ba, uint32_t a, uint32_t dqm,
                uint32_t dq, uint32_t drive) {
    board::SdramPins pins;
    pins.clk = levels & 1, pins.cke = levels >> 1 & 1, pins.cs_n = levels >> 2 & 1;
    pins.ras_n = levels >> 3 & 1, pins.cas_n = levels >> 4 & 1, pins.we_n = levels >> 5 & 1;
    pins.ba = ba, pins.a = a, pins.dqm = dqm, pins.dq = dq, pins.drive = drive;
    sdram->pins(now, pins);
}
// Run cycles in which nothing but the clock changes; it rises in their middle.
void sdram_idle(Sdram* sdram, int64_t now, int64_t period, uint64_t cycles, uint32_t levels,
                uint32_t dqm) {
    for (; cycles--; now += period)
        for (uint32_t clk : {0, 1})
            sdram_pins(sdram, now + clk * period / 2, levels | clk, 0, 0, dqm, 0, 0);
}
uint32_t sdram_dq(Sdram* sdram, int64_t when, uint32_t* driven) {
    uint16_t bits = 0;
    const uint32_t value = sdram->dq(when, bits);
    *driven = bits;
    return value;
}
void sdram_finish(Sdram* sdram, int64_t now) { sdram->finish(now); }

uint64_t sdram_violations(Sdram* sdram) { return sdram->violations.size(); }
int64_t sdram_violation_time(Sdram* sdram, uint64_t i) { return sdram->violations[i].time; }
const char* sdram_violation_rule(Sdram* sdram, uint64_t i) {
    return sdram->violations[i].rule.c_str();
}
const char* sdram_violation_text(Sdram* sdram, uint64_t i) {
    return sdram->violations[i].text.c_str();
}
// Commands so far: ACTIVATE, READ, WRITE, REFRESH.
void sdram_counts(Sdram* sdram, uint64_t* into) {
    into[0] = sdram->activates, into[1] = sdram->reads;
    into[2] = sdram->writes, into[3] = sdram->refreshes;
}
}
