// A serial line, bit by bit: 8N1 in both directions, and the noise on it.
#pragma once

#include <algorithm>
#include <cstdint>
#include <deque>

namespace board {

// What a noisy line does to bytes.
class Noise {
public:
    void set(uint64_t seed, double rate) {
        state_ = seed * 0x9E3779B97F4A7C15u | 1;
        limit_ = static_cast<uint64_t>(rate * 0x1000000);
    }
    // Append `byte` to `line`: changed, not at all, or twice, each with a third of the rate.
    void pass(uint8_t byte, std::deque<uint8_t>& line) {
        const bool fault = limit_ && (next() & 0xFFFFFF) < limit_;
        const int kind = fault ? static_cast<int>(next() % 3) : -1;
        faults += fault;
        if (kind == 0) byte ^= 1 << next() % 8;
        if (kind == 2) line.push_back(byte);
        if (kind != 1) line.push_back(byte);
    }
    uint64_t faults = 0;

private:
    uint64_t state_ = 1, limit_ = 0;
    uint64_t next() {
        state_ ^= state_ >> 12, state_ ^= state_ << 25, state_ ^= state_ >> 27;
        return state_ * 0x2545F4914F6CDD1Du >> 16;
    }
};

// The host's end of the line.
class SerialLine {
public:
    std::deque<uint8_t> to_board, from_board;
    Noise noise;

    // `bit`: length of a bit in cycles of the board's clock.
    explicit SerialLine(double bit) : bit_(bit) {}

    void send(const uint8_t* data, uint64_t size) {
        for (uint64_t i = 0; i < size; i++) noise.pass(data[i], to_board);
    }
    // Bytes that came since the last call, `capacity` at most.
    uint64_t receive(uint8_t* into, uint64_t capacity) {
        const uint64_t size = std::min<uint64_t>(capacity, from_board.size());
        std::copy_n(from_board.begin(), size, into);
        from_board.erase(from_board.begin(), from_board.begin() + size);
        return size;
    }
    // A cycle: look at the board's output, return the level of its input.
    bool cycle(uint64_t now, bool tx) {
        if (!send_left_ && !to_board.empty()) {
            sending_ = to_board.front() << 1 | 1 << 9;
            to_board.pop_front();
            send_left_ = 10;
            send_at_ = std::max(send_at_, static_cast<double>(now));
        }
        if (send_left_ && now >= send_at_) {
            level_ = sending_ & 1;
            sending_ >>= 1, send_at_ += bit_, send_left_--;
        }
        if (!come_left_ && !tx) come_left_ = 10, come_at_ = now + bit_ / 2, coming_ = 0;
        if (come_left_ && now >= come_at_) {
            coming_ = coming_ >> 1 | tx << 9;
            come_at_ += bit_;
            if (!--come_left_ && coming_ >> 9) noise.pass(coming_ >> 1 & 0xFF, from_board);
        }
        return level_;
    }

private:
    double bit_;
    bool level_ = true;
    // Bits left of the byte that is sent and of the one that comes, and when the next is due.
    uint32_t sending_ = 0, coming_ = 0;
    int send_left_ = 0, come_left_ = 0;
    double send_at_ = 0, come_at_ = 0;
};

}  // namespace board
