// An SDR SDRAM by its data sheet: what it does at its pins, and every rule that its user breaks.
//
// Times are picoseconds. The user calls pins() with the state of the pins whenever one of them has
// changed, in the order of time, and dq() for what the part drives. What a rule forbids is recorded
// and then done as far as it has a meaning, so that one mistake is one violation.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <deque>
#include <random>
#include <string>
#include <vector>

namespace board {

using Time = int64_t;

// The data sheet; `celosia_sim.boards.sdram.SdramPart` is the same in Python, in this order.
struct SdramPart {
    int64_t row_bits, column_bits;
    Time t_ck2, t_ck3, t_ch, t_cl;          // clock: period by latency, high, low
    Time t_is, t_ih;                        // inputs: set-up, hold
    Time t_ac2, t_ac3, t_oh, t_hz2, t_hz3;  // outputs: access by latency, hold, off by latency
    Time t_rcd, t_rp, t_ras, t_ras_max, t_rc, t_rfc, t_rrd, t_mrd, t_wr;
    int64_t n_rrd, n_mrd, n_wr;             // the same in clock cycles, where that is longer
    Time t_ref;
    int64_t n_ref;                          // refreshes in every t_ref
    Time t_init;
    int64_t n_init;                         // refreshes before the first use
};

struct SdramPins {
    bool clk = false, cke = false, cs_n = true, ras_n = true, cas_n = true, we_n = true;
    uint8_t ba = 0, dqm = 0;
    uint16_t a = 0, dq = 0;
    uint16_t drive = 0;  // bits of dq that the user drives
};

struct Violation {
    Time time;
    std::string rule, text;
};

class Sdram {
public:
    static constexpr int BANKS = 4;
    // Refreshes that may be late, of those that are due at a steady pace. With 8192 in every 64 ms
    // alone nothing could be said of a run of a few milliseconds.
    static constexpr int LATE = 8;
    static constexpr size_t MOST_VIOLATIONS = 1000;

    std::vector<Violation> violations;
    uint64_t activates = 0, reads = 0, writes = 0, refreshes = 0;

    explicit Sdram(const SdramPart& part)
        : part_(part), data_(size_t{BANKS} << (part.row_bits + part.column_bits)) {
        std::mt19937_64 random(1);  // what a part holds after power-up is not zero
        for (size_t i = 0; i + 4 <= data_.size(); i += 4) {
            const uint64_t word = random();
            for (int k = 0; k < 4; k++) data_[i + k] = static_cast<uint16_t>(word >> 16 * k);
        }
    }

    // The pins as they are from `now` on.
    void pins(Time now, const SdramPins& to);
    // The data at `when`, from the last clock edge but one on; `driven` are the bits that the part
    // drives. The others, and all while they change, are noise.
    uint16_t dq(Time when, uint16_t& driven);
    // Check what is else checked with the next command.
    void finish(Time now);

private:
    static constexpr int64_t FOREVER = int64_t{1} << 60;
    struct Bank {
        bool open = false, closing = false;  // closing: by itself, after the burst
        uint32_t row = 0;
        Time activated = -FOREVER, precharged = -FOREVER, written = -FOREVER;
        int64_t written_edge = -FOREVER, close_edge = 0;
        Time close_time = 0;
    };
    struct Word {
        int64_t edge = -1;
        uint16_t data = 0;
    };
    // From a clock edge to the next: the word that was valid at it, and the one after it.
    struct Output {
        Time rise = -FOREVER;
        uint16_t held = 0, held_mask = 0, next = 0, next_mask = 0;
    };

    SdramPart part_;
    std::vector<uint16_t> data_;
    std::minstd_rand noise_{1};
    SdramPins pins_;
    Bank banks_[BANKS];
    Time now_ = 0;
    const char* command_ = "";
    // Clock and inputs.
    int64_t edge_ = 0;
    Time rise_ = -FOREVER, fall_ = -FOREVER, first_rise_ = -FOREVER;
    Time moved_ = -FOREVER, data_moved_ = -FOREVER;
    bool used_ = false, data_used_ = false;  // inputs that the last edge has taken
    // Mode and initialisation.
    int latency_ = 3, burst_length_ = 1;
    bool interleaved_ = false, single_writes_ = false, mode_set_ = false, ready_ = false;
    int64_t init_refreshes_ = 0;
    bool init_begun_ = false;
    // The burst that goes on, and what comes of it.
    bool bursting_ = false, writing_ = false;
    int burst_bank_ = 0, burst_left_ = 0, burst_index_ = 0;
    uint32_t burst_row_ = 0, burst_column_ = 0;
    Word words_[8];  // by the edge at which they are valid
    Output out_, out_before_;
    uint8_t dqm_before_ = 0;
    // Times of commands to all banks.
    Time last_activate_ = -FOREVER, refreshed_ = -FOREVER, mode_time_ = -FOREVER;
    int64_t last_activate_edge_ = -FOREVER, mode_edge_ = -FOREVER;
    std::deque<Time> refresh_times_;
    Time refresh_by_ = FOREVER;

    Time t_hz() const { return latency_ == 2 ? part_.t_hz2 : part_.t_hz3; }
    Time t_ac() const { return latency_ == 2 ? part_.t_ac2 : part_.t_ac3; }
    size_t at(int bank, uint32_t row, uint32_t column) const {
        return (static_cast<size_t>(bank) << part_.row_bits | row) << part_.column_bits | column;
    }
    static uint16_t lanes(uint8_t dqm) {  // bits that a mask leaves
        return (dqm & 1 ? 0 : 0xFF) | (dqm & 2 ? 0 : 0xFF00);
    }

    void violate(const char* rule, const std::string& why) {
        if (violations.size() >= MOST_VIOLATIONS) return;
        char head[96];
        std::snprintf(head, sizeof head, "%.4f us, %s, %s: ", double(now_) / 1e6, command_,
                      rule);
        violations.push_back({now_, rule, head + why});
    }
    // `since` must be `least` (and `cycles`) ago.
    void after(const char* rule, const char* what, Time since, Time least, int64_t since_edge = 0,
               int64_t cycles = 0) {
        if (now_ - since >= least && (!cycles || edge_ - since_edge >= cycles)) return;
        char why[160], clocks[32] = "";
        if (cycles) std::snprintf(clocks, sizeof clocks, " and %d clocks", int(cycles));
        std::snprintf(why, sizeof why, "must be %.2f ns%s after %s, not %.2f ns", double(least) / 1e3,
                      clocks, what, double(now_ - since) / 1e3);
        violate(rule, why);
    }
    void check_open_time(int i) {
        const Bank& bank = banks_[i];
        if (bank.open && now_ - bank.activated > part_.t_ras_max)
            violate("tRAS", "a row must not be open for longer than " +
                    std::to_string(part_.t_ras_max / 1000) + " ns");
    }

    void check_inputs(Time now, const SdramPins& to);
    void clock();
    void command(int code);
    void check_ready(int code);
    void begin_refreshes() { refresh_by_ = now_ + (LATE + 1) * (part_.t_ref / part_.n_ref); }
    void check_idle();
    void check_refresh();
    void activate(int i);
    void access(int i, bool write);
    void precharge(int first, int last);
    void refresh();
    void set_mode();
    void burst();
    void close_by_itself();
    void contention(uint16_t bits);
};

}  // namespace board

#include "sdram_commands.h"
#include "sdram_pins.h"
