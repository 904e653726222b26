// AXI4 subordinate on the chip's memory port, with a timing that the host sets.
//
// Every signal towards the chip comes out of a register: `sample` looks at the settled pins of a
// cycle and computes the signals of the next one, `apply` puts them on the pins after the edge.
//
// Reads: the first beat of a burst is valid `read_latency` cycles after its AR handshake, or when the
// bursts before it are through. Writes: a beat is taken from the cycle after its AW handshake on;
// B is valid `write_latency` cycles after the last beat. Each direction moves a beat a cycle, or
// `bytes_per_cycle` on average.
//
// With a stall seed, ready and valid fall at random, latencies vary, bursts of different IDs overtake
// and interleave, reads sample the memory at either end of their latency and writes land at
// either end of theirs: all that AXI allows, so that what depends on luck shows.
#pragma once

#include <cstdio>
#include <deque>
#include <string>
#include <vector>

#include "chip_config.h"
#include "sparse.h"

struct Timing {
    double bytes_per_cycle;  // each way; 0: a beat a cycle
    uint32_t read_latency, write_latency;
    uint32_t max_outstanding;  // bursts each way
    uint64_t stall_seed;       // 0: no random stalls
    double stall_rate;         // chance that a channel pauses in a cycle
};

struct ErrorRange {
    uint64_t first, last;
    bool read, write;
};

class Random {  // xorshift64*
public:
    explicit Random(uint64_t seed = 1) : state_(seed * 0x9E3779B97F4A7C15u | 1) {}
    uint64_t next() {
        state_ ^= state_ >> 12, state_ ^= state_ << 25, state_ ^= state_ >> 27;
        return state_ * 0x2545F4914F6CDD1Du >> 16;
    }
    bool chance(double p) { return (next() & 0xFFFFFF) < p * 0x1000000; }

private:
    uint64_t state_;
};

// Tokens of a bandwidth limit, in 2^-20 bytes. Up to one beat more than one is saved, so that the
// average is exact for every rate.
class Bucket {
public:
    void limit(double bytes_per_cycle) {
        rate_ = static_cast<int64_t>(bytes_per_cycle * ONE);
        if (bytes_per_cycle >= BEAT) rate_ = 0;
        tokens_ = BEAT * ONE;
    }
    bool ready(uint64_t now) {
        if (!rate_) return true;
        const int64_t most = BEAT * ONE + rate_;
        const uint64_t cycles = std::min<uint64_t>(now - last_, most / rate_ + 1);
        tokens_ = std::min<int64_t>(tokens_ + rate_ * static_cast<int64_t>(cycles), most);
        last_ = now;
        return tokens_ >= BEAT * ONE;
    }
    void take() {
        if (rate_) tokens_ -= BEAT * ONE;
    }

private:
    static constexpr int64_t ONE = 1 << 20, BEAT = CELOSIA_BUS_BYTES;
    int64_t rate_ = 0, tokens_ = 0;
    uint64_t last_ = 0;
};

class AxiMemory {
public:
    static constexpr int BYTES = CELOSIA_BUS_BYTES;
    static constexpr int STROBE_BYTES = (BYTES + 7) / 8;
    static constexpr uint8_t OKAY = 0, SLVERR = 2;

    SparseMemory memory;
    std::vector<ErrorRange> errors;
    std::string violation;  // the first broken rule of AXI; empty: none

    explicit AxiMemory(CELOSIA_MODEL& pins) : pins_(pins) { set({0, 64, 8, 16, 0, 0}); }

    void set(const Timing& timing) {
        t_ = timing;
        t_.read_latency = std::max(1u, t_.read_latency);
        t_.write_latency = std::max(1u, t_.write_latency);
        t_.max_outstanding = std::max(1u, t_.max_outstanding);
        random_ = Random(t_.stall_seed);
        read_bucket_.limit(t_.bytes_per_cycle);
        write_bucket_.limit(t_.bytes_per_cycle);
    }

    void reset() {
        reads_.clear(), writes_.clear(), responses_.clear();
        rvalid_ = bvalid_ = wready_ = arready_ = awready_ = false;
        ar_waits_ = aw_waits_ = w_waits_ = false;
        apply();
    }

    bool busy() const { return !reads_.empty() || !writes_.empty() || !responses_.empty(); }

    // Returns whether the pins of the next cycle differ.
    bool sample(uint64_t now) {
        const bool quiet = !(pins_.m_axi_arvalid | pins_.m_axi_awvalid | pins_.m_axi_wvalid |
                             rvalid_ | bvalid_ | wready_ | ar_waits_ | aw_waits_ | w_waits_);
        if (quiet && arready_ && awready_ && !t_.stall_seed && !busy()) return false;
        changed_ = false;
        check_stalled();
        sample_read(now);
        sample_write(now);
        const bool go = !stalled(), go_write = !stalled();
        drive(arready_, go && reads_.size() < t_.max_outstanding);
        drive(awready_, go_write && writes_.size() + responses_.size() < t_.max_outstanding);
        return changed_;
    }

    void apply() {
        pins_.m_axi_arready = arready_;
        pins_.m_axi_awready = awready_;
        pins_.m_axi_wready = wready_;
        pins_.m_axi_rvalid = rvalid_;
        if (rvalid_) {
            pins_.m_axi_rid = rid_, pins_.m_axi_rresp = rresp_, pins_.m_axi_rlast = rlast_;
            std::memcpy(&pins_.m_axi_rdata, rdata_, BYTES);
        }
        pins_.m_axi_bvalid = bvalid_;
        if (bvalid_) pins_.m_axi_bid = bid_, pins_.m_axi_bresp = bresp_;
    }

    void keep(State& state) {
        state(t_, random_, read_bucket_, write_bucket_);
        state.all(reads_, [&](Read& each) {
            state(each.address, each.ready, each.beats, each.id, each.sent);
            state.all(each.early);
        });
        state.all(writes_, [&](Write& each) { keep(state, each); });
        state.all(responses_, [&](Response& each) {
            state(each.ready);
            keep(state, each.burst);
        });
        state(changed_, arready_, awready_, wready_, rvalid_, bvalid_, rlast_, rid_, rresp_, bid_,
              bresp_, rdata_, ar_waits_, aw_waits_, w_waits_, ar_held_, aw_held_, w_held_);
        state.all(errors);
        state.all(violation);
        memory.keep(state);
    }

private:
    struct Read {
        uint64_t address, ready;
        int beats, id;
        std::vector<uint8_t> early;  // what was read on arrival; empty: read when it leaves
        int sent;
    };
    struct Write {
        uint64_t address;
        int beats, id, taken;
        bool late, error;
        std::vector<uint8_t> data;  // of a late write: data and strobes of each beat
    };
    struct Response {
        uint64_t ready;
        Write burst;
    };

    static void keep(State& state, Write& each) {
        state(each.address, each.beats, each.id, each.taken, each.late, each.error);
        state.all(each.data);
    }

    CELOSIA_MODEL& pins_;
    Timing t_;
    Random random_;
    Bucket read_bucket_, write_bucket_;
    std::deque<Read> reads_;
    std::deque<Write> writes_;
    std::deque<Response> responses_;
    bool changed_ = false;
    bool arready_ = false, awready_ = false, wready_ = false, rvalid_ = false, bvalid_ = false;
    bool rlast_ = false;
    uint8_t rid_ = 0, rresp_ = 0, bid_ = 0, bresp_ = 0;
    uint8_t rdata_[BYTES] = {};
    bool ar_waits_ = false, aw_waits_ = false, w_waits_ = false;  // valid without ready
    uint64_t ar_held_ = 0, aw_held_ = 0;
    uint8_t w_held_[BYTES] = {};

    void drive(bool& pin, bool value) {
        changed_ |= pin != value;
        pin = value;
    }

    bool stalled() { return t_.stall_seed && random_.chance(t_.stall_rate); }

    uint64_t latency(uint32_t nominal) {
        if (!t_.stall_seed) return nominal;
        return 1 + random_.next() % (2 * nominal);
    }

    bool fails(uint64_t address, bool write) const {
        for (const ErrorRange& range : errors)
            if ((write ? range.write : range.read) && address + BYTES > range.first &&
                address <= range.last)
                return true;
        return false;
    }

    void violate(const char* rule, uint64_t address) {
        if (!violation.empty()) return;
        char text[160];
        std::snprintf(text, sizeof text, "%s (address 0x%08llx)", rule,
                      static_cast<unsigned long long>(address));
        violation = text;
    }

    // What was valid and not taken must be there again, unchanged (A3.2.1).
    void check_stalled() {
        if (ar_waits_ && (!pins_.m_axi_arvalid || ar_held_ != held(pins_.m_axi_araddr,
                                                                   pins_.m_axi_arlen)))
            violate("AR changed before it was accepted", ar_held_ & 0xFFFFFFFF);
        if (aw_waits_ && (!pins_.m_axi_awvalid || aw_held_ != held(pins_.m_axi_awaddr,
                                                                   pins_.m_axi_awlen)))
            violate("AW changed before it was accepted", aw_held_ & 0xFFFFFFFF);
        if (w_waits_ && (!pins_.m_axi_wvalid || std::memcmp(w_held_, &pins_.m_axi_wdata, BYTES)))
            violate("W changed before it was accepted", writes_.empty() ? 0 : writes_[0].address);
        ar_waits_ = pins_.m_axi_arvalid && !arready_;
        aw_waits_ = pins_.m_axi_awvalid && !awready_;
        w_waits_ = pins_.m_axi_wvalid && !wready_;
        if (ar_waits_) ar_held_ = held(pins_.m_axi_araddr, pins_.m_axi_arlen);
        if (aw_waits_) aw_held_ = held(pins_.m_axi_awaddr, pins_.m_axi_awlen);
        if (w_waits_) std::memcpy(w_held_, &pins_.m_axi_wdata, BYTES);
    }

    static uint64_t held(uint32_t address, uint8_t len) { return uint64_t{len} << 32 | address; }

    void check_burst(uint32_t address, int beats, int size, int burst) {
        if (address % BYTES) violate("a burst is not aligned to the bus", address);
        if ((1 << size) != BYTES) violate("a burst is narrower than the bus", address);
        if (burst != 1) violate("a burst is not INCR", address);
        if (address / 4096 != (address + uint64_t(beats) * BYTES - 1) / 4096)
            violate("a burst crosses 4096 bytes", address);
    }

    void sample_read(uint64_t now) {
        if (pins_.m_axi_arvalid && arready_) {
            const uint32_t address = pins_.m_axi_araddr;
            const int beats = pins_.m_axi_arlen + 1;
            check_burst(address, beats, pins_.m_axi_arsize, pins_.m_axi_arburst);
            reads_.push_back({address, now + latency(t_.read_latency), beats, pins_.m_axi_arid, {}, 0});
            if (t_.stall_seed && random_.chance(0.5)) {
                reads_.back().early.resize(uint64_t(beats) * BYTES);
                memory.read(address, reads_.back().early.data(), uint64_t(beats) * BYTES);
            }
        }
        if (rvalid_ && !pins_.m_axi_rready) return;
        if (reads_.empty() && !rvalid_) return;
        const int next = choose_read(now + 1);
        if (next < 0) return drive(rvalid_, false);
        Read& read = reads_[next];
        read_bucket_.take();
        const uint64_t address = read.address + uint64_t(read.sent) * BYTES;
        rid_ = read.id, rresp_ = fails(address, false) ? SLVERR : OKAY;
        if (rresp_) std::memset(rdata_, 0, BYTES);
        else if (!read.early.empty())
            std::memcpy(rdata_, read.early.data() + uint64_t(read.sent) * BYTES, BYTES);
        else memory.read(address, rdata_, BYTES);
        rlast_ = ++read.sent == read.beats;
        if (rlast_) reads_.erase(reads_.begin() + next);
        rvalid_ = changed_ = true;
    }

    // Index of the burst whose beat is next, or -1. Bursts of one ID stay in order.
    int choose_read(uint64_t when) {
        if (reads_.empty() || stalled() || !read_bucket_.ready(when)) return -1;
        int first = 0;
        if (t_.stall_seed && random_.chance(0.5))
            for (size_t i = 1; i < reads_.size() && !first; i++)
                if (reads_[i].id != reads_[0].id) first = static_cast<int>(i);
        return reads_[first].ready <= when ? first : -1;
    }

    void sample_write(uint64_t now) {
        if (bvalid_ && pins_.m_axi_bready) drive(bvalid_, false);
        if (pins_.m_axi_awvalid && awready_) {
            const uint32_t address = pins_.m_axi_awaddr;
            const int beats = pins_.m_axi_awlen + 1;
            check_burst(address, beats, pins_.m_axi_awsize, pins_.m_axi_awburst);
            // A write never lands before an older one of its ID.
            const bool behind = writes_.empty()
                ? !responses_.empty() && responses_.back().burst.late : writes_.back().late;
            const bool late = behind || (t_.stall_seed && random_.chance(0.5));
            writes_.push_back({address, beats, pins_.m_axi_awid, 0, late, false, {}});
        }
        if (wready_ && pins_.m_axi_wvalid) take_beat(now);
        if (!bvalid_ && !responses_.empty() && responses_[0].ready <= now + 1 && !stalled()) {
            Write& burst = responses_[0].burst;
            commit(burst);
            bid_ = burst.id, bresp_ = burst.error ? SLVERR : OKAY;
            responses_.pop_front();
            bvalid_ = changed_ = true;
        }
        drive(wready_, !writes_.empty() && !stalled() && write_bucket_.ready(now + 1));
    }

    void take_beat(uint64_t now) {
        Write& burst = writes_[0];
        const uint64_t address = burst.address + uint64_t(burst.taken) * BYTES;
        const auto* data = reinterpret_cast<const uint8_t*>(&pins_.m_axi_wdata);
        const auto* strobe = reinterpret_cast<const uint8_t*>(&pins_.m_axi_wstrb);
        write_bucket_.take();
        if (fails(address, true)) burst.error = true;
        else if (!burst.late) memory.write_strobed(address, data, strobe, BYTES);
        if (burst.late) {
            burst.data.insert(burst.data.end(), data, data + BYTES);
            burst.data.insert(burst.data.end(), strobe, strobe + STROBE_BYTES);
        }
        const bool last = ++burst.taken == burst.beats;
        if (last != static_cast<bool>(pins_.m_axi_wlast))
            violate(last ? "WLAST is missing" : "WLAST comes early", address);
        if (!last) return;
        responses_.push_back({now + latency(t_.write_latency), std::move(burst)});
        writes_.pop_front();
    }

    void commit(const Write& burst) {
        if (!burst.late) return;
        for (int i = 0; i < burst.beats; i++) {
            const uint8_t* beat = burst.data.data() + uint64_t(i) * (BYTES + STROBE_BYTES);
            const uint64_t address = burst.address + uint64_t(i) * BYTES;
            if (!fails(address, true))
                memory.write_strobed(address, beat, beat + BYTES, BYTES);
        }
    }
};
