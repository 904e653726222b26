// A serial flash memory at its pins: wakes from deep power-down, and reads (command 03h).
#pragma once

#include <cstdint>
#include <cstring>
#include <vector>

namespace board {

class SpiFlash {
public:
    void load(uint64_t offset, const uint8_t* data, uint64_t size) {
        if (bytes_.size() < offset + size) bytes_.resize(offset + size, 0xFF);
        std::memcpy(bytes_.data() + offset, data, size);
    }

    // Levels of the pins now; returns that of the output, which is high where nothing drives it.
    // Inputs are taken where the clock rises, the output changes where it falls.
    int pins(int cs_n, int clk, int mosi) {
        if (cs_n) {
            if (bits_ >= 8 && command_ == WAKE) awake_ = true;
            bits_ = 0, out_ = 1;
        } else if (clk && !clk_) {
            rise(mosi);
        } else if (!clk && clk_ && awake_ && command_ == READ && bits_ >= 32) {
            const uint64_t bit = bits_ - 32, byte = address_ + bit / 8;
            out_ = byte < bytes_.size() ? bytes_[byte] >> (7 - bit % 8) & 1 : 1;
        }
        clk_ = clk;
        return out_;
    }

private:
    static constexpr int READ = 0x03, WAKE = 0xAB;

    std::vector<uint8_t> bytes_;
    bool awake_ = false;  // after the configuration of the FPGA it sleeps
    int clk_ = 0, out_ = 1, command_ = 0;
    uint32_t address_ = 0;
    uint64_t bits_ = 0;

    void rise(int mosi) {
        if (bits_ < 8) command_ = (command_ << 1 | mosi) & 0xFF;
        else if (bits_ < 32) address_ = (address_ << 1 | static_cast<uint32_t>(mosi)) & 0xFFFFFF;
        bits_++;
    }
};

}  // namespace board
