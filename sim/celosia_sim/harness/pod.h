// Chips of one kind in this process, and the links between them.
#pragma once

#include <algorithm>
#include <condition_variable>
#include <functional>
#include <mutex>
#include <random>
#include <thread>

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

// Threads that do one piece of work each, together, as often as they are asked to; the first one is
// the caller.
class Crew {
public:
    Crew(int size, std::function<void(int)> work) : work_(std::move(work)) {
        for (int i = 1; i < size; i++) threads_.emplace_back([this, i] { serve(i); });
    }

    ~Crew() {
        {
            std::lock_guard<std::mutex> lock(mutex_);
            ended_ = true;
        }
        go_.notify_all();
        for (std::thread& each : threads_) each.join();
    }

    void run() {
        if (threads_.empty()) return work_(0);
        {
            std::lock_guard<std::mutex> lock(mutex_);
            turn_++, busy_ = static_cast<int>(threads_.size());
        }
        go_.notify_all();
        work_(0);
        std::unique_lock<std::mutex> lock(mutex_);
        done_.wait(lock, [this] { return busy_ == 0; });
    }

private:
    std::function<void(int)> work_;
    std::vector<std::thread> threads_;
    std::mutex mutex_;
    std::condition_variable go_, done_;
    uint64_t turn_ = 0;
    int busy_ = 0;
    bool ended_ = false;

    void serve(int number) {
        std::unique_lock<std::mutex> lock(mutex_);
        for (uint64_t seen = 0;;) {
            go_.wait(lock, [&] { return ended_ || turn_ != seen; });
            if (ended_) return;
            seen = turn_;
            lock.unlock();
            work_(number);
            lock.lock();
            if (--busy_ == 0) done_.notify_one();
        }
    }
};

// Chips take turns of a window of cycles, which is not longer than the links' latency: no chip ever
// sees a word that has not been sent, whatever the order of turns, the window and the threads.
// Whoever asks for something gets it in whole latencies, so time does not depend on them, either.
class Pod {
public:
    // Of each end, chip * PORTS + port, `peers` has the other one, or -1.
    Pod(Chip** chips, int count, const int32_t* peers, uint64_t latency, uint64_t window, int threads,
        uint64_t seed, double errors)
        : chips_(chips, chips + count), latency_(latency), window_(window), threads_(threads),
          crew_(threads, [this](int thread) { turn(thread); }) {
        for (int end = 0; end < count * CELOSIA_PORTS; end++) {
            ends_.push_back({peers[end], chips_[end / CELOSIA_PORTS]->link_pins(end % CELOSIA_PORTS),
                             std::vector<LinkWord>(2 * latency), Noise(seed * 7919 + end, errors), 0});
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

    // Until every chip's interrupt is high or `limit` cycles have passed, in whole latencies.
    Stop run(uint64_t limit) {
        for (uint64_t passed = 0;; passed += latency_) {
            bool all = true;
            for (Chip* chip : chips_) all &= chip->interrupt();
            if (all) return Stop::INTERRUPT;
            if (passed >= limit) return Stop::CYCLES;
            pass();
            for (Chip* chip : chips_)
                if (!chip->axi.violation.empty()) return Stop::VIOLATION;
        }
    }

    // A hash of all words that each end has sent, and of when.
    void hashes(uint64_t* into) const {
        for (const End& end : ends_) *into++ = end.hash;
    }

private:
    struct End {
        int peer;
        LinkPins pins;
        std::vector<LinkWord> line;  // what was sent in the last cycles, by the cycle
        Noise noise;
        uint64_t hash;
    };
    std::vector<Chip*> chips_;
    std::vector<End> ends_;
    uint64_t latency_, window_;
    int threads_;
    uint64_t now_ = 0, until_ = 0;
    Crew crew_;  // the last: its threads use the others

    void pass() {
        for (const uint64_t end = now_ + latency_; now_ < end; now_ = until_) {
            until_ = std::min(now_ + window_, end);
            crew_.run();
        }
    }

    // A thread's turn: its chips, one after another. It writes what they send in this window, and
    // reads what others have sent before it.
    void turn(int thread) {
        const size_t count = chips_.size();
        for (size_t chip = count * thread / threads_; chip < count * (thread + 1) / threads_; chip++) {
            End* ends = &ends_[chip * CELOSIA_PORTS];
            uint64_t put = now_ % (2 * latency_), get = (now_ + latency_) % (2 * latency_);
            for (uint64_t at = now_; at < until_; at++) {
                for (int port = 0; port < CELOSIA_PORTS; port++) {
                    End& end = ends[port];
                    LinkWord& out = end.line[put];
                    out.kind = *end.pins.tx_kind;
                    std::memcpy(out.data, end.pins.tx_data, CELOSIA_LINK_BYTES);
                    if (out.kind) note(end, out, at);
                    if (end.peer < 0) continue;
                    LinkWord in = ends_[end.peer].line[get];
                    end.noise.pass(in);
                    *end.pins.rx_kind = in.kind;
                    std::memcpy(end.pins.rx_data, in.data, CELOSIA_LINK_BYTES);
                }
                chips_[chip]->cycle();
                if (++put == 2 * latency_) put = 0;
                if (++get == 2 * latency_) get = 0;
            }
        }
    }

    // FNV-1a, by words.
    static void note(End& end, const LinkWord& word, uint64_t at) {
        constexpr uint64_t PRIME = 0x100000001b3;
        uint64_t hash = (end.hash ^ (at << 2 | word.kind)) * PRIME;
        for (int i = 0; i < CELOSIA_LINK_BYTES; i += 4) {
            uint32_t part;
            std::memcpy(&part, word.data + i, 4);
            hash = (hash ^ part) * PRIME;
        }
        end.hash = hash ^ hash >> 32;
    }

    int finish(uint32_t* values) {
        for (uint64_t passed = 0; passed < Chip::LITE_CYCLES; passed += latency_) {
            pass();
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
