// What is on the lines of a pod. A word of a line is a byte of kind and the data.
#pragma once

#include <cstdint>
#include <cstring>
#include <random>
#include <vector>

#include "state.h"

// Bits of a line that are turned, every so often: the gaps between them are geometric.
class Noise {
public:
    Noise(uint64_t seed, double rate, uint64_t word_bytes)
        : random_(seed), rate_(rate), bits_(2 + 8 * (word_bytes - 1)) {
        skip();
    }

    bool any() const { return rate_ > 0; }

    void pass(uint8_t* word) {
        while (left_ < bits_) {
            if (left_ < 2) word[0] ^= 1 << left_;
            else word[1 + (left_ - 2) / 8] ^= 1 << (left_ - 2) % 8;
            const uint64_t at = left_;
            skip();
            left_ += at + 1;
        }
        left_ -= bits_;
    }

    void keep(State& state) { state(random_, left_); }

private:
    std::mt19937_64 random_;
    double rate_;
    uint64_t bits_, left_ = 0;

    void skip() {
        if (rate_ > 0) left_ = std::geometric_distribution<uint64_t>(rate_)(random_);
    }
};

// What an end has sent in the last cycles, by the cycle, and a hash of all that it ever has.
class Line {
public:
    // `least`: the latency of the pod's link that has the least.
    Line(uint64_t latency, uint64_t least, uint64_t word_bytes)
        : latency_(latency), cycles_(least * ((latency + least - 1) / least + 1)),
          word_bytes_(word_bytes), words_(cycles_ * word_bytes) {}

    // The words from a cycle on; those up to the next multiple of the least latency lie behind it.
    uint8_t* at(uint64_t cycle) { return &words_[cycle % cycles_ * word_bytes_]; }

    // The words that come in the cycles from a cycle on; in `room` where they do not lie together.
    const uint8_t* coming(uint64_t cycle, uint64_t cycles, uint8_t* room) {
        const uint64_t first = (cycle + cycles_ - latency_) % cycles_, whole = cycles_ - first;
        if (cycles <= whole) return &words_[first * word_bytes_];
        std::memcpy(room, &words_[first * word_bytes_], whole * word_bytes_);
        std::memcpy(room + whole * word_bytes_, words_.data(), (cycles - whole) * word_bytes_);
        return room;
    }

    // FNV-1a, by words of 32 bits, of the cycles from..until.
    void note(uint64_t from, uint64_t until) {
        constexpr uint64_t PRIME = 0x100000001b3;
        const uint8_t* word = at(from);
        for (uint64_t cycle = from; cycle < until; cycle++, word += word_bytes_) {
            if (!word[0]) continue;
            uint64_t value = (hash ^ (cycle << 2 | word[0])) * PRIME;
            for (uint64_t i = 1; i < word_bytes_; i += 4) {
                uint32_t part;
                std::memcpy(&part, word + i, 4);
                value = (value ^ part) * PRIME;
            }
            hash = value ^ value >> 32;
        }
    }

    void keep(State& state) {
        state(hash);
        state.bytes(words_.data(), words_.size());
    }

    uint64_t hash = 0;

private:
    uint64_t latency_, cycles_, word_bytes_;
    std::vector<uint8_t> words_;
};
