// Pins of the SDRAM: clock, inputs, bursts and what it drives; part of sdram.h.
#pragma once

namespace board {

inline void Sdram::pins(Time now, const SdramPins& to) {
    now_ = now;
    check_inputs(now, to);
    const SdramPins before = pins_;
    if (to.clk && !before.clk) {
        if (rise_ == -FOREVER) first_rise_ = now;
        command_ = "clock";
        if (rise_ != -FOREVER) {
            const Time least = latency_ == 2 ? part_.t_ck2 : part_.t_ck3;
            after("tCK", "the rising edge before", rise_, least);
            after("tCL", "the falling edge", fall_, part_.t_cl);
        }
        // Inputs that change with the edge are taken as they were before it.
        rise_ = now, edge_++;
        clock();
        pins_ = to;
        contention(to.drive & out_.next_mask);
        return;
    }
    if (!to.clk && before.clk) {
        command_ = "clock";
        after("tCH", "the rising edge", rise_, part_.t_ch);
        fall_ = now;
    }
    pins_ = to;
    const uint16_t begun = to.drive & ~before.drive;
    const bool off = now >= rise_ + t_hz();
    contention(begun & (out_.next_mask | (off ? 0 : out_.held_mask)));
}

inline void Sdram::contention(uint16_t bits) {
    if (!bits) return;
    command_ = "DQ";
    violate("contention", "nobody else may drive it while the part does");
}

inline void Sdram::check_inputs(Time now, const SdramPins& to) {
    const SdramPins& was = pins_;
    const bool moved = to.cke != was.cke || to.cs_n != was.cs_n || to.ras_n != was.ras_n ||
                       to.cas_n != was.cas_n || to.we_n != was.we_n || to.dqm != was.dqm ||
                       to.ba != was.ba || to.a != was.a;
    const bool data_moved = to.dq != was.dq || to.drive != was.drive;
    if (moved) {
        command_ = "inputs";
        if (used_) after("tIH", "the clock edge that took them", rise_, part_.t_ih);
        moved_ = now;
    }
    if (data_moved) {
        command_ = "DQ";
        if (data_used_) after("tIH", "the clock edge that took it", rise_, part_.t_ih);
        data_moved_ = now;
    }
    if (!to.clk || was.clk) return;
    command_ = "inputs";
    used_ = !(was.cs_n || (was.ras_n && was.cas_n && was.we_n)) || bursting_;
    if (used_) after("tIS", "their last change", moved_, part_.t_is);
}

// A rising edge; pins_ is what they were before it.
inline void Sdram::clock() {
    data_used_ = false;
    close_by_itself();
    const int code = pins_.cs_n ? NOTHING : pins_.ras_n << 2 | pins_.cas_n << 1 | pins_.we_n;
    if (!pins_.cke && (init_begun_ || code != NOTHING)) {
        command_ = "CKE";
        violate("CKE", "must stay high: the part is not modelled in power-down");
    }
    command(code);
    if (!ready_ && mode_set_ && init_refreshes_ >= part_.n_init) {
        ready_ = true;
        begin_refreshes();
    }
    if (bursting_) burst();
    // The word that is valid at the next edge; masks of reads count two edges later.
    out_before_ = out_;
    const Word& word = words_[(edge_ + 1) % 8];
    const bool valid = word.edge == edge_ + 1;
    out_ = {now_, out_.next, out_.next_mask, word.data, valid ? lanes(dqm_before_) : uint16_t{0}};
    dqm_before_ = pins_.dqm;
}

inline void Sdram::burst() {
    const uint32_t size = burst_length_ > 1 ? burst_length_ : 1;
    const uint32_t low = interleaved_ ? burst_column_ ^ burst_index_ : burst_column_ + burst_index_;
    const uint32_t column = (burst_column_ & ~(size - 1)) | (low & (size - 1));
    uint16_t& cell = data_[at(burst_bank_, burst_row_, column)];
    if (writing_) {
        const uint16_t mask = lanes(pins_.dqm);
        if (mask & ~pins_.drive) {
            command_ = "DQ";
            violate("data", "must be driven with every word that is written");
        }
        if (mask) {
            command_ = "DQ";
            data_used_ = true;
            after("tIS", "its last change", data_moved_, part_.t_is);
        }
        cell = (cell & ~mask) | (pins_.dq & mask);
        Bank& bank = banks_[burst_bank_];
        bank.written = now_, bank.written_edge = edge_;
        if (bank.closing && burst_left_ == 1) bank.close_time = now_ + part_.t_wr;
    } else {
        Word& word = words_[(edge_ + latency_) % 8];
        word = {edge_ + latency_, cell};
    }
    burst_index_++;
    if (burst_length_ >> part_.column_bits) return;  // of a page: until it is stopped
    if (!--burst_left_) bursting_ = false;
}

inline uint16_t Sdram::dq(Time when, uint16_t& driven) {
    const Output& out = when < out_.rise ? out_before_ : out_;
    const Time since = when - out.rise;
    uint16_t valid = 0, data = 0;
    if (since < part_.t_oh) valid = out.held_mask, data = out.held;
    if (since >= t_ac()) valid = out.next_mask, data = out.next;
    driven = out.next_mask | (since < t_hz() ? out.held_mask : 0);
    return (data & valid) | (static_cast<uint16_t>(noise_() >> 8) & ~valid);
}

}  // namespace board
