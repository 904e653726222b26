// A Verilated top module between the parts of its board: oscillator, serial line, SDRAM, lights.
//
// `board_config.h` is written by board_library.py: BOARD_MODEL (the class), BOARD_SDRAM (1 where
// there is one), BOARD_LIGHTS (levels of the lights, an expression of `p`).
#include <memory>

#include "board_config.h"
#include "sdram.h"
#include "serial_line.h"
#include "verilated.h"

double sc_time_stamp() { return 0; }

namespace {

class Board {
public:
    board::SerialLine line;
    std::unique_ptr<board::Sdram> sdram;  // none: a board without one
    uint64_t now = 0;

    // `period`: of the system clock, in ps; `phase`: where in it the SDRAM's clock rises. `least`, `most`: from a clock edge in the FPGA to an
    // output, the SDRAM, an input and the register behind it, without the SDRAM's own times.
    Board(const board::SdramPart* part, double period, double phase, double bit, int64_t least,
          int64_t most)
        : line(bit), sdram(part ? new board::Sdram(*part) : nullptr), period_(period),
          phase_(phase), least_(least), most_(most), model_(new BOARD_MODEL(&context_, "board")) {
        model_->clk = 0;
        model_->rx = 1;
        model_->eval();
    }
    ~Board() { model_->final(); }

    void run(uint64_t cycles) {
        for (const uint64_t end = now + cycles; now < end; now++) cycle();
        if (sdram) sdram->finish(time(now));
    }

    uint32_t lights() {
        const BOARD_MODEL& p = *model_;
        return BOARD_LIGHTS;
    }

private:
    double period_, phase_;
    board::Time least_, most_;
    VerilatedContext context_;
    std::unique_ptr<BOARD_MODEL> model_;

    board::Time time(double cycles) const {
        return static_cast<board::Time>(cycles * period_ + 0.5);
    }

    void cycle() {
        model_->rx = line.cycle(now, model_->tx);
        edge(now, 1);
#if BOARD_SDRAM
        const bool late = phase_ >= 0.5;
        sdram_edge(now + (late ? phase_ - 0.5 : phase_), !late);
#endif
        edge(now + 0.5, 0);
#if BOARD_SDRAM
        sdram_edge(now + (late ? phase_ : phase_ + 0.5), late);
#endif
    }

    // Of the system's clock, after so many cycles.
    void edge(double when, int clk) {
#if BOARD_SDRAM
        read(time(when));
#endif
        model_->clk = clk;
        model_->eval();
#if BOARD_SDRAM
        drive(time(when));
#endif
    }

#if BOARD_SDRAM
    void sdram_edge(double when, int clk) {
        model_->rootp->top__DOT__pll__DOT__shifted = clk;
        model_->eval();
        drive(time(when));
    }

    void drive(board::Time when) {
        const BOARD_MODEL& p = *model_;
        board::SdramPins pins;
        pins.clk = p.sdram_clk, pins.cke = p.sdram_cke, pins.cs_n = p.sdram_cs_n;
        pins.ras_n = p.sdram_ras_n, pins.cas_n = p.sdram_cas_n, pins.we_n = p.sdram_we_n;
        pins.ba = p.sdram_ba, pins.a = p.sdram_a, pins.dqm = p.sdram_dqm;
        pins.dq = p.sdram_dq__out & p.sdram_dq__en, pins.drive = p.sdram_dq__en;
        sdram->pins(when, pins);
    }

    // What an input register sees: a word that is there as early and as late as it has to be.
    void read(board::Time when) {
        uint16_t driven = 0;
        const uint16_t early = sdram->dq(when - most_, driven);
        const uint16_t late = sdram->dq(when - least_, driven);
        model_->sdram_dq = early == late ? early : ~early;
    }
#endif
};

}  // namespace

extern "C" {

Board* board_new(const board::SdramPart* part, double period, double phase, double bit,
                 int64_t least, int64_t most) {
    return new Board(part, period, phase, bit, least, most);
}
void board_free(Board* board) { delete board; }
void board_noise(Board* board, uint64_t seed, double rate) { board->line.noise.set(seed, rate); }
uint64_t board_faults(Board* board) { return board->line.noise.faults; }
uint64_t board_now(Board* board) { return board->now; }
uint64_t board_pending(Board* board) { return board->line.to_board.size(); }
uint32_t board_lights(Board* board) { return board->lights(); }
board::Sdram* board_sdram(Board* board) { return board->sdram.get(); }
void board_send(Board* board, const uint8_t* data, uint64_t size) { board->line.send(data, size); }

// Run; return the bytes that came since the last call, `capacity` at most.
uint64_t board_run(Board* board, uint64_t cycles, uint8_t* into, uint64_t capacity) {
    board->run(cycles);
    return board->line.receive(into, capacity);
}
}
