// The Verilated chip with its clock, its memory and a manager on its register port.
//
// `chip_config.h` is written by build.py: CELOSIA_MODEL (the class), CELOSIA_BUS_BYTES,
// CELOSIA_CLOCK_BEFORE (the clock level that Verilator remembers, if its name was found),
// CELOSIA_BANKS (the arrays of the on-chip memories), CELOSIA_PROBE (whether it has that pin),
// CELOSIA_PORTS, and of these CELOSIA_LINK_BYTES and CELOSIA_LINKS (their pins).
#pragma once

#include <memory>
#include <string>

#include "axi_memory.h"
#include "verilated.h"
#if CELOSIA_TRACE == 1
#include "verilated_vcd_c.h"
using TraceFile = VerilatedVcdC;
#elif CELOSIA_TRACE == 2
#include "verilated_fst_c.h"
using TraceFile = VerilatedFstC;
#elif CELOSIA_TRACE == 3
#include "verilated_cov.h"
#endif
#define CELOSIA_WAVES (CELOSIA_TRACE == 1 || CELOSIA_TRACE == 2)

#if CELOSIA_IDLE
void CELOSIA_EVAL(decltype(CELOSIA_MODEL::rootp));
#endif

enum class Stop : int { CYCLES = 0, INTERRUPT = 1, VIOLATION = 2, PROBE = 3 };

// The word of the probe from a cycle on, until the next one.
struct Probed {
    uint64_t cycle, word;
};

#if CELOSIA_PORTS
// Pins of a port: two bits of kind and a word each way.
struct LinkPins {
    CData *tx_kind, *rx_kind;
    void *tx_data, *rx_data;
};
#endif

struct Bank {
    const char* memory;
    int index;
    uint8_t* rows;
    uint64_t depth, stride, bytes;  // stride: bytes between rows of the array in this process
    uint64_t part, parts;           // which part of a row the array has, of how many

    uint64_t row_bytes() const { return bytes * parts; }
    uint8_t* at(uint64_t row) const { return rows + row * stride; }
};

class Chip {
public:
    static constexpr int NO_ANSWER = -1, BROKEN = -2;
    static constexpr int LITE_CYCLES = 10'000;  // a register access that takes longer has failed

    Chip() : context_(new VerilatedContext), model_(new CELOSIA_MODEL(context_.get(), "chip")),
             axi(*model_) {
#if CELOSIA_WAVES
        context_->traceEverOn(true);
#endif
        top().rst = 1;
        top().clk = 0;
        top().eval();
        for (const Bank& bank : banks())
            std::memset(bank.rows, 0, bank.depth * bank.stride);
        wake();
        reset();
    }

    ~Chip() {
        trace_close();
        model_->final();
    }

    // Nothing may sleep: a memory was changed from outside.
    void wake() {
#if CELOSIA_IDLE
        model_->rootp->wake();
#endif
    }

    // Power-on reset of the logic; both memories keep their contents.
    void reset() {
        lite_ = {};
        apply_lite();
        axi.reset();
        top().rst = 1;
        settle();
        for (int i = 0; i < 4; i++) edge(), settle(), now++;
        top().rst = 0;
        settle();
    }

    void cycle() {
#if CELOSIA_PROBE
        if (probe_states_) probe();
#endif
        bool changed = axi.sample(now);
        if (lite_.active) changed |= sample_lite();
        edge();
        now++;
        if (changed) {
            axi.apply();
            if (lite_.active || lite_.ended) apply_lite();
            settle();
        } else {
            fall();
        }
#if CELOSIA_WAVES
        dump();
#endif
    }

    // Until the interrupt is high (if `until_interrupt`), a rule of AXI is broken, or `limit` cycles.
    Stop run(uint64_t limit, bool until_interrupt, uint64_t* cycles) {
        const uint64_t start = now;
        Stop stop = Stop::CYCLES;
        for (;;) {
            if (until_interrupt && top().irq) { stop = Stop::INTERRUPT; break; }
            if (now - start >= limit) break;
            cycle();
            if (!axi.violation.empty()) { stop = Stop::VIOLATION; break; }
            if (probed_.word & probe_stops_) { stop = Stop::PROBE; break; }
        }
        *cycles = now - start;
        return stop;
    }

    // Note the probe whenever one of the bits ``states`` changes (0: never), and end each run behind
    // a cycle in which one of the bits ``stops`` of it is set. False: the chip has none.
    bool probe_set(uint64_t states, uint64_t stops) {
        records.clear();
        probed_ = {now, 0};
        probe_states_ = states, probe_stops_ = stops;
        return CELOSIA_PROBE;
    }

    // The response (0 OKAY, 2 SLVERR, 3 DECERR), or NO_ANSWER or BROKEN.
    int write_register(uint32_t offset, uint32_t value) {
        begin_write(offset, value);
        return finish_lite(nullptr);
    }

    int read_register(uint32_t offset, uint32_t* value) {
        begin_read(offset);
        return finish_lite(value);
    }

    // The same in three parts: begin, `cycle` until it has ended, end.
    void begin_write(uint32_t offset, uint32_t value) {
        lite_ = {};
        lite_.active = lite_.awvalid = lite_.wvalid = lite_.bready = true;
        lite_.address = offset, lite_.data = value;
        apply_lite();
        settle();
    }

    void begin_read(uint32_t offset) {
        lite_ = {};
        lite_.active = lite_.arvalid = lite_.rready = true;
        lite_.address = offset;
        apply_lite();
        settle();
    }

    int end_access(uint32_t* value) {
        const int response = lite_.ended ? lite_.response : axi.violation.empty() ? NO_ANSWER : BROKEN;
        if (value) *value = lite_.data;
        lite_ = {};
        apply_lite();
        settle();
        return response;
    }

    bool interrupt() { return top().irq; }

    CELOSIA_MODEL& model() { return *model_; }

#if CELOSIA_PORTS
    // Run cycles with words on the lines of each port, and keep what is sent. A word is a byte of its
    // kind and the data; nothing comes to a port without an `in`. Whether AXI's rules were kept.
    bool pass(uint64_t cycles, const uint8_t* const* in, uint8_t* const* out) {
        constexpr uint64_t WORD = 1 + CELOSIA_LINK_BYTES;
        CELOSIA_MODEL& pins = top();
        const LinkPins all[] = {CELOSIA_LINKS};
        for (uint64_t at = 0; at < cycles * WORD; at += WORD) {
            for (int port = 0; port < CELOSIA_PORTS; port++) {
                const LinkPins& each = all[port];
                out[port][at] = *each.tx_kind;
                std::memcpy(out[port] + at + 1, each.tx_data, CELOSIA_LINK_BYTES);
                if (!in[port]) continue;
                *each.rx_kind = in[port][at];
                std::memcpy(each.rx_data, in[port] + at + 1, CELOSIA_LINK_BYTES);
            }
            cycle();
        }
        return axi.violation.empty();
    }
#endif

    // All that the chip and its memory are, but for what the host looks at (probe and waveform). The
    // model's class has variables without pointers, and behind them these two.
    void keep(State& state) {
        auto* rootp = model_->rootp;
        auto* begin = reinterpret_cast<uint8_t*>(rootp);
        state.bytes(begin, reinterpret_cast<uint8_t*>(&rootp->vlSymsp) - begin);
        state(now, lite_);
        axi.keep(state);
    }

    const std::vector<Bank>& banks() {
        if (banks_.empty()) {
            auto* rootp = model_->rootp;
            (void)rootp;
            banks_ = {CELOSIA_BANKS};
        }
        return banks_;
    }

    // Open a waveform of the cycles first..last; it is written while those are run. How often bits
    // have changed is written when it is closed, and is of all cycles.
    bool trace_open(const char* path, uint64_t first, uint64_t last) {
#if CELOSIA_WAVES
        trace_close();
        trace_.reset(new TraceFile);
        model_->trace(trace_.get(), 99);
        trace_->open(path);
        trace_first_ = first, trace_last_ = last;
        return trace_->isOpen();
#elif CELOSIA_TRACE == 3
        (void)first, (void)last;
        toggles_ = path;
        context_->coveragep()->forcePerInstance(true);
        return true;
#else
        (void)path, (void)first, (void)last;
        return false;
#endif
    }

    void trace_close() {
#if CELOSIA_WAVES
        if (trace_) trace_->close();
        trace_.reset();
#elif CELOSIA_TRACE == 3
        if (!toggles_.empty()) context_->coveragep()->write(toggles_);
        toggles_.clear();
#endif
    }

private:
    std::unique_ptr<VerilatedContext> context_;
    std::unique_ptr<CELOSIA_MODEL> model_;

public:
    AxiMemory axi;
    uint64_t now = 0;
    std::vector<Probed> records;

private:
    Probed probed_ = {};
    uint64_t probe_states_ = 0, probe_stops_ = 0;

#if CELOSIA_PROBE
    void probe() {
        const uint64_t word = top().probe;
        if (((word ^ probed_.word) & probe_states_) != 0) records.push_back({now, word});
        probed_ = {now, word};
    }
#endif

    struct Lite {
        bool active, ended, awvalid, wvalid, bready, arvalid, rready;
        uint32_t address, data;
        int response;
    };
    Lite lite_ = {};
    std::vector<Bank> banks_;
#if CELOSIA_TRACE == 3
    std::string toggles_;
#elif CELOSIA_WAVES
    std::unique_ptr<TraceFile> trace_;
    uint64_t trace_first_ = 0, trace_last_ = 0;

    void dump() {
        if (!trace_ || now < trace_first_) return;
        if (now > trace_last_) return trace_close();
        const uint64_t time = 10 * now;  // one cycle is 10 ns
        top().clk = 1;
        trace_->dump(time);
        top().clk = 0;
        top().eval();
        trace_->dump(time + 5);
    }
#endif

    CELOSIA_MODEL& top() { return *model_; }

    // Combinational logic follows the inputs; the clock is low for the next edge.
    //
    // Verilator finds an edge by the level that it saw last. Telling it that this was low costs
    // nothing; an eval with the clock low costs a pass over the logic behind the inputs.
#ifdef CELOSIA_CLOCK_BEFORE
    void settle() {
        top().CELOSIA_CLOCK_BEFORE = top().clk;
        evaluate();
        fall();
    }
    void fall() { top().CELOSIA_CLOCK_BEFORE = 0; }
#else
    void settle() {
        top().clk = 0;
        top().eval();
    }
    void fall() { settle(); }
#endif

    void edge() {
        top().clk = 1;
        evaluate();
    }

    // Without what Verilator does for chips that print, which takes a lock every time. The first eval
    // is that of the constructor, which sets all up.
    void evaluate() {
#if CELOSIA_IDLE
        CELOSIA_EVAL(model_->rootp);
#else
        top().eval();
#endif
    }

    int finish_lite(uint32_t* value) {
        for (int i = 0; lite_.active && i < LITE_CYCLES; i++) {
            cycle();
            if (!axi.violation.empty()) break;
        }
        return end_access(value);
    }

    bool sample_lite() {
        const CELOSIA_MODEL& pins = top();
        const Lite before = lite_;
        if (lite_.awvalid && pins.s_axil_awready) lite_.awvalid = false;
        if (lite_.wvalid && pins.s_axil_wready) lite_.wvalid = false;
        if (lite_.arvalid && pins.s_axil_arready) lite_.arvalid = false;
        if (lite_.bready && pins.s_axil_bvalid) {
            lite_.response = pins.s_axil_bresp;
            lite_.bready = lite_.active = false, lite_.ended = true;
        }
        if (lite_.rready && pins.s_axil_rvalid) {
            lite_.response = pins.s_axil_rresp, lite_.data = pins.s_axil_rdata;
            lite_.rready = lite_.active = false, lite_.ended = true;
        }
        return before.awvalid != lite_.awvalid || before.wvalid != lite_.wvalid ||
               before.arvalid != lite_.arvalid || lite_.ended;
    }

    void apply_lite() {
        CELOSIA_MODEL& pins = top();
        pins.s_axil_awvalid = lite_.awvalid, pins.s_axil_wvalid = lite_.wvalid;
        pins.s_axil_arvalid = lite_.arvalid;
        pins.s_axil_bready = lite_.bready, pins.s_axil_rready = lite_.rready;
        pins.s_axil_awaddr = lite_.address, pins.s_axil_araddr = lite_.address;
        pins.s_axil_awprot = 0, pins.s_axil_arprot = 0;
        pins.s_axil_wdata = lite_.data, pins.s_axil_wstrb = 15;
    }
};
