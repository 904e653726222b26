// C interface of a chip in a shared library, for celosia_sim.library (ctypes).
#include "chip.h"

// Verilator's library wants the time of $time; the chip has none.
double sc_time_stamp() { return 0; }

extern "C" {

int celosia_abi() { return CELOSIA_ABI; }

Chip* celosia_new() { return new Chip; }
void celosia_free(Chip* chip) { delete chip; }

void celosia_reset(Chip* chip) {
    chip->axi.violation.clear();
    chip->reset();
}

void celosia_timing(Chip* chip, double bytes_per_cycle, uint32_t read_latency,
                    uint32_t write_latency, uint32_t max_outstanding, uint64_t stall_seed,
                    double stall_rate) {
    chip->axi.set({bytes_per_cycle, read_latency, write_latency, max_outstanding, stall_seed,
                   stall_rate});
}

void celosia_add_error(Chip* chip, uint64_t first, uint64_t last, int read, int write) {
    chip->axi.errors.push_back({first, last, read != 0, write != 0});
}
void celosia_clear_errors(Chip* chip) { chip->axi.errors.clear(); }

uint64_t celosia_now(Chip* chip) { return chip->now; }
const char* celosia_violation(Chip* chip) { return chip->axi.violation.c_str(); }

int celosia_run(Chip* chip, uint64_t limit, int until_interrupt, uint64_t* cycles) {
    return static_cast<int>(chip->run(limit, until_interrupt != 0, cycles));
}

int celosia_write_register(Chip* chip, uint32_t offset, uint32_t value) {
    return chip->write_register(offset, value);
}
int celosia_read_register(Chip* chip, uint32_t offset, uint32_t* value) {
    return chip->read_register(offset, value);
}

void celosia_read_memory(Chip* chip, uint64_t address, uint8_t* into, uint64_t size) {
    chip->axi.memory.read(address, into, size);
}
void celosia_write_memory(Chip* chip, uint64_t address, const uint8_t* from, uint64_t size) {
    chip->axi.memory.write(address, from, size);
}

// Rows of an on-chip memory, 0 if it was not found; bytes of a row in *row_bytes.
uint64_t celosia_rows(Chip* chip, const char* memory, uint64_t* row_bytes) {
    uint64_t rows = 0;
    for (const Bank& bank : chip->banks())
        if (!std::strcmp(bank.memory, memory) && bank.part == 0)
            rows += bank.depth, *row_bytes = bank.row_bytes();
    return rows;
}

// Copy rows row..row+n-1 out of (or into) a memory whose bank is the low bits of the row.
void celosia_peek(Chip* chip, const char* memory, uint64_t row, uint64_t n, uint8_t* into) {
    for (const Bank& bank : chip->banks())
        if (!std::strcmp(bank.memory, memory))
            for (uint64_t i = 0; i < n; i++)
                if ((row + i) % CELOSIA_NUM_BANKS == static_cast<uint64_t>(bank.index))
                    std::memcpy(into + i * bank.row_bytes() + bank.part * bank.bytes,
                                bank.at((row + i) / CELOSIA_NUM_BANKS), bank.bytes);
}

void celosia_poke(Chip* chip, const char* memory, uint64_t row, uint64_t n, const uint8_t* from) {
    for (const Bank& bank : chip->banks())
        if (!std::strcmp(bank.memory, memory))
            for (uint64_t i = 0; i < n; i++)
                if ((row + i) % CELOSIA_NUM_BANKS == static_cast<uint64_t>(bank.index))
                    std::memcpy(bank.at((row + i) / CELOSIA_NUM_BANKS),
                                from + i * bank.row_bytes() + bank.part * bank.bytes, bank.bytes);
    chip->wake();
}

// See State; the bytes, or 0 if those that were to be loaded are not of such a chip.
uint64_t celosia_state(Chip* chip, int way, uint8_t* at, uint64_t size) {
    State state(static_cast<State::Way>(way), at, size);
    chip->keep(state);
    return state.end();
}

// See Chip::probe_set; 0: there is no probe.
int celosia_probe_set(Chip* chip, uint64_t states, uint64_t stops) {
    return chip->probe_set(states, stops);
}

uint64_t celosia_probe_size(Chip* chip) { return chip->records.size(); }

// Copy what was noted, and forget it.
void celosia_probe_read(Chip* chip, Probed* into) {
    std::copy(chip->records.begin(), chip->records.end(), into);
    chip->records.clear();
}

int celosia_trace_open(Chip* chip, const char* path, uint64_t first, uint64_t last) {
    return chip->trace_open(path, first, last);
}
void celosia_trace_close(Chip* chip) { chip->trace_close(); }

#if CELOSIA_PORTS
// What celosia_sim.pod wants of a chip.
int celosia_pass(Chip* chip, uint64_t cycles, const uint8_t* const* in, uint8_t* const* out) {
    return chip->pass(cycles, in, out);
}
void celosia_begin_write(Chip* chip, uint32_t offset, uint32_t value) {
    chip->begin_write(offset, value);
}
void celosia_begin_read(Chip* chip, uint32_t offset) { chip->begin_read(offset); }
int celosia_end_access(Chip* chip, uint32_t* value) { return chip->end_access(value); }
int celosia_interrupt(Chip* chip) { return chip->interrupt(); }
#endif

}
