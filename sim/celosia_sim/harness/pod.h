// Chips of one kind in this process, and the links between them.
#pragma once

#include <random>

#include "chip.h"

#if CELOSIA_PORTS

// What is on a line in a cycle.
struct LinkWord {
    uint8_t kind;
    uint8_t data[CELOSIA_LINK_BYTES];
};

// Bits of a line that are turned, every so often: the gaps between them are geometric.
class Noise {
public:
    Noise(uint64_t seed, double rate) : random_(seed), rate_(rate) { skip(); }

    void pass(LinkWord& word) {
        if (rate_ <= 0) return;
        while (left_ < BITS) {
            if (left_ < 2) word.kind ^= 1 << left_;
            else word.data[(left_ - 2) / 8] ^= 1 << (left_ - 2) % 8;
            const uint64_t at = left_;
            skip();
            left_ += at + 1;
        }
        left_ -= BITS;
    }

private:
    static constexpr uint64_t BITS = 2 + 8 * CELOSIA_LINK_BYTES;
    std::mt19937_64 random_;
    double rate_;
    uint64_t left_ = 0;

    void skip() {
        if (rate_ > 0) left_ = std::geometric_distribution<uint64_t>(rate_)(random_);
    }
};

// Chips take turns of a window of cycles, which is the links' latency: no chip ever sees a word that
// has not been sent, whatever the order of turns.
class Pod {
public:
    // Of each end, chip * PORTS + port, `peers` has the other one, or -1.
    Pod(Chip** chips, int count, const int32_t* peers, uint64_t latency, uint64_t seed, double errors)
        : chips_(chips, chips + count), latency_(latency) {
        for (int end = 0; end < count * CELOSIA_PORTS; end++) {
            ends_.push_back({peers[end], chips_[end / CELOSIA_PORTS]->link_pins(end % CELOSIA_PORTS),
                             {}, Noise(seed * 7919 + end, errors)});
            for (auto& line : ends_.back().lines) line.resize(latency);
        }
    }

    // Write a register of each chip, in the same cycle; the worst response.
    int write(uint32_t offset, const uint32_t* values) {
        for (size_t i = 0; i < chips_.size(); i++) chips_[i]->begin_write(offset, values[i]);
        return finish(nullptr);
    }

    int read(uint32_t offset, uint32_t* values) {
        for (Chip* chip : chips_) chip->begin_read(offset);
        return finish(values);
    }

    // Until every chip's interrupt is high or `limit` cycles have passed, in whole windows.
    Stop run(uint64_t limit) {
        for (uint64_t passed = 0;; passed += latency_) {
            bool all = true;
            for (Chip* chip : chips_) all &= chip->interrupt();
            if (all) return Stop::INTERRUPT;
            if (passed >= limit) return Stop::CYCLES;
            window();
            for (Chip* chip : chips_)
                if (!chip->axi.violation.empty()) return Stop::VIOLATION;
        }
    }

private:
    struct End {
        int peer;
        LinkPins pins;
        std::vector<LinkWord> lines[2];  // what was sent in this window and in the one before
        Noise noise;
    };
    std::vector<Chip*> chips_;
    std::vector<End> ends_;
    uint64_t latency_;
    int now_ = 0;

    void window() {
        now_ ^= 1;
        for (size_t chip = 0; chip < chips_.size(); chip++) {
            End* ends = &ends_[chip * CELOSIA_PORTS];
            for (uint64_t at = 0; at < latency_; at++) {
                for (int port = 0; port < CELOSIA_PORTS; port++) {
                    End& end = ends[port];
                    LinkWord& out = end.lines[now_][at];
                    out.kind = *end.pins.tx_kind;
                    std::memcpy(out.data, end.pins.tx_data, CELOSIA_LINK_BYTES);
                    if (end.peer < 0) continue;
                    LinkWord in = ends_[end.peer].lines[now_ ^ 1][at];
                    end.noise.pass(in);
                    *end.pins.rx_kind = in.kind;
                    std::memcpy(end.pins.rx_data, in.data, CELOSIA_LINK_BYTES);
                }
                chips_[chip]->cycle();
            }
        }
    }

    int finish(uint32_t* values) {
        for (uint64_t passed = 0; passed < Chip::LITE_CYCLES; passed += latency_) {
            window();
            bool busy = false;
            for (Chip* chip : chips_) busy |= chip->accessing();
            if (!busy) break;
        }
        int worst = 0;
        for (size_t i = 0; i < chips_.size(); i++) {
            const int response = chips_[i]->end_access(values ? &values[i] : nullptr);
            if (response) worst = response;
        }
        return worst;
    }
};

#endif
