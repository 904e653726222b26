// Commands of the SDRAM; part of sdram.h.
#pragma once

namespace board {

// Code of a command: ras_n, cas_n, we_n.
enum : int { MODE = 0, REFRESH, PRECHARGE, ACTIVATE, WRITE, READ, STOP, NOTHING };

inline void Sdram::command(int code) {
    static const char* const NAMES[] = {"MODE REGISTER SET", "REFRESH", "PRECHARGE", "ACTIVATE",
                                        "WRITE", "READ", "BURST STOP", "NOP"};
    command_ = NAMES[code];
    if (code == NOTHING) return;
    check_ready(code);
    after("tMRD", "MODE REGISTER SET", mode_time_, part_.t_mrd, mode_edge_, part_.n_mrd);
    after("tRFC", "REFRESH", refreshed_, part_.t_rfc);
    check_refresh();
    const int bank = pins_.ba;
    switch (code) {
        case MODE: return set_mode();
        case REFRESH: return refresh();
        case PRECHARGE:
            if (pins_.a >> 10 & 1) return precharge(0, BANKS - 1);
            return precharge(bank, bank);
        case ACTIVATE: return activate(bank);
        case STOP:
            if (bursting_ && banks_[burst_bank_].closing)
                violate("auto precharge", "a burst whose row closes itself must not be stopped");
            bursting_ = false;
            return;
        default: return access(bank, code == WRITE);
    }
}

// Power-up: a pause, PRECHARGE of all banks, refreshes and the mode register.
inline void Sdram::check_ready(int code) {
    if (!init_begun_) {
        init_begun_ = true;
        after("tINIT", "power-up", first_rise_, part_.t_init);
        if (code != PRECHARGE || !(pins_.a >> 10 & 1))
            violate("initialisation", "PRECHARGE of all banks must come before");
        if (pins_.dqm != 3) violate("initialisation", "DQM must be high until then");
    }
    if (ready_ || code == PRECHARGE || code == REFRESH || code == MODE) return;
    if (!mode_set_) violate("initialisation", "the mode register must be set before");
    if (init_refreshes_ < part_.n_init)
        violate("initialisation", std::to_string(part_.n_init) + " refreshes must come before, not " +
                std::to_string(init_refreshes_));
    ready_ = true;  // said once
    begin_refreshes();
}

inline void Sdram::check_idle() {
    for (int i = 0; i < BANKS; i++) {
        if (banks_[i].open)
            violate("open row", "every bank must be idle, but bank " + std::to_string(i) +
                    (banks_[i].closing ? " has yet to close row " : " has the open row ") +
                    std::to_string(banks_[i].row));
        after("tRP", "PRECHARGE", banks_[i].precharged, part_.t_rp);
    }
}

inline void Sdram::check_refresh() {
    if (now_ > refresh_by_) {
        violate("tREF", "refreshes must come every " +
                std::to_string(part_.t_ref / part_.n_ref / 1000) + " ns, and never more than " +
                std::to_string(LATE) + " of them late");
        refresh_by_ = now_ + LATE * (part_.t_ref / part_.n_ref);
    }
}

inline void Sdram::finish(Time now) {
    now_ = now, command_ = "end";
    check_refresh();
    for (int i = 0; i < BANKS; i++) check_open_time(i);
}

inline void Sdram::set_mode() {
    check_idle();
    const int length = pins_.a & 7, latency = pins_.a >> 4 & 7;
    if (length > 3 && length != 7)
        violate("mode register", "the burst length must be 0 to 3 or 7, not " +
                std::to_string(length));
    if (latency != 2 && latency != 3)
        violate("mode register", "the CAS latency must be 2 or 3, not " + std::to_string(latency));
    if ((pins_.a & ~0x27F) || pins_.ba)
        violate("mode register", "bits that are reserved must be 0, not A = " +
                std::to_string(pins_.a) + ", BA = " + std::to_string(pins_.ba));
    burst_length_ = length == 7 ? 1 << part_.column_bits : 1 << (length & 3);
    interleaved_ = pins_.a >> 3 & 1;
    latency_ = latency == 2 ? 2 : 3;
    single_writes_ = pins_.a >> 9 & 1;
    mode_set_ = true;
    mode_time_ = now_, mode_edge_ = edge_;
}

inline void Sdram::refresh() {
    check_idle();
    after("tRC", "ACTIVATE", last_activate_, part_.t_rc);
    const Time pace = part_.t_ref / part_.n_ref;
    // Those that come early do not allow for more than LATE late ones.
    if (ready_) refresh_by_ = std::min(refresh_by_ + pace, now_ + (LATE + 1) * pace);
    refresh_times_.push_back(now_);
    if (refresh_times_.size() > static_cast<size_t>(part_.n_ref)) {
        const Time since = now_ - refresh_times_.front();
        if (since > part_.t_ref)
            violate("tREF", "a row must be refreshed every " + std::to_string(part_.t_ref / 1000) +
                    " ns, not after " + std::to_string(since / 1000) + " ns");
        refresh_times_.pop_front();
    }
    refreshed_ = now_;
    refreshes++, init_refreshes_++;
}

inline void Sdram::activate(int i) {
    Bank& bank = banks_[i];
    if (bank.open) violate("open row", "bank " + std::to_string(i) + " must be idle, but has the "
                           "open row " + std::to_string(bank.row));
    after("tRP", "PRECHARGE", bank.precharged, part_.t_rp);
    after("tRC", "ACTIVATE of the bank", bank.activated, part_.t_rc);
    if (last_activate_ != bank.activated)
        after("tRRD", "ACTIVATE of another bank", last_activate_, part_.t_rrd, last_activate_edge_,
              part_.n_rrd);
    bank.open = true, bank.closing = false;
    bank.row = pins_.a & ((1u << part_.row_bits) - 1);
    bank.activated = last_activate_ = now_;
    last_activate_edge_ = edge_;
    bank.written = -FOREVER, bank.written_edge = -FOREVER;
    activates++;
}

inline void Sdram::access(int i, bool write) {
    Bank& bank = banks_[i];
    if (bursting_ && burst_bank_ != i && banks_[burst_bank_].closing) {  // cut short
        Bank& cut = banks_[burst_bank_];
        cut.close_edge = edge_ + (writing_ ? part_.n_wr - 1 : 0);
        cut.close_time = writing_ ? cut.written + part_.t_wr : now_;
    }
    bursting_ = false;
    if (!bank.open || bank.closing) {
        violate("closed row", "bank " + std::to_string(i) + " must have an open row");
        return;
    }
    after("tRCD", "ACTIVATE", bank.activated, part_.t_rcd);
    bursting_ = true, writing_ = write, burst_bank_ = i, burst_row_ = bank.row, burst_index_ = 0;
    burst_column_ = pins_.a & ((1u << part_.column_bits) - 1);
    burst_left_ = write && single_writes_ ? 1 : burst_length_;
    write ? writes++ : reads++;
    if (pins_.a >> 10 & 1) {
        if (burst_length_ >> part_.column_bits)
            violate("auto precharge", "a burst of a page must not ask for it");
        bank.closing = true;
        bank.close_edge = edge_ + burst_left_ + (write ? part_.n_wr - 1 : 0);
        bank.close_time = write ? FOREVER : now_;  // of a write: with its last word
    }
}

inline void Sdram::precharge(int first, int last) {
    for (int i = first; i <= last; i++) {
        Bank& bank = banks_[i];
        if (!bank.open) continue;
        check_open_time(i);
        if (bank.closing && first == last)
            violate("auto precharge", "the row of bank " + std::to_string(i) + " closes itself");
        after("tRAS", "ACTIVATE", bank.activated, part_.t_ras);
        if (bursting_ && burst_bank_ == i) bursting_ = false;
        after("tWR", "the last word written", bank.written, part_.t_wr, bank.written_edge,
              part_.n_wr);
        bank.open = bank.closing = false;
        bank.precharged = now_;
    }
}

// Rows that a READ or a WRITE with auto precharge closes.
inline void Sdram::close_by_itself() {
    for (Bank& bank : banks_) {
        if (!bank.closing || edge_ < bank.close_edge) continue;
        const Time when = std::max({edge_ == bank.close_edge ? now_ : bank.close_time,
                                    bank.close_time, bank.activated + part_.t_ras});
        bank.close_time = when;
        if (when > now_) continue;
        bank.open = bank.closing = false;
        bank.precharged = when;
    }
}

}  // namespace board
