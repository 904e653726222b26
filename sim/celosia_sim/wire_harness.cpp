// The Verilated host link between two ends of a serial line and the buses of a chip.
//
// `wire_config.h` is written by wire_library.py: WIRE_BUS_BYTES. The line is driven and sampled bit
// by bit at the pins; what is behind the buses is asked for through callbacks.
#include <algorithm>
#include <cstdint>
#include <cstring>
#include <deque>
#include <memory>
#include <vector>

#include "Vlink.h"
#include "boards/serial_line.h"
#include "verilated.h"
#include "wire_config.h"

double sc_time_stamp() { return 0; }

namespace {

constexpr int BYTES = WIRE_BUS_BYTES;

// Each returns an AXI response.
using ReadRegister = int (*)(uint32_t offset, uint32_t* value);
using WriteRegister = int (*)(uint32_t offset, uint32_t value);
using ReadMemory = int (*)(uint32_t address, uint8_t* into, uint32_t size);
using WriteMemory = int (*)(uint32_t address, const uint8_t* from, uint32_t size);

// A payload pin as bytes, whatever word type Verilator gave it.
template <typename Pin>
struct Bits {
    uint8_t bytes[sizeof(Pin) + 8] = {};
    explicit Bits(const Pin& pin) { std::memcpy(bytes, &pin, sizeof(Pin)); }
    void put(Pin& pin) const { std::memcpy(&pin, bytes, sizeof(Pin)); }
    uint64_t get(int at, int width) const {
        uint64_t word = 0;
        std::memcpy(&word, bytes + at / 8, 8);
        return word >> at % 8 & ((uint64_t{1} << width) - 1);
    }
    void set(int at, int width, uint64_t value) {
        for (int i = 0; i < width; i++) {
            uint8_t& byte = bytes[(at + i) / 8];
            const int bit = 1 << (at + i) % 8;
            byte = value >> i & 1 ? byte | bit : byte & ~bit;
        }
    }
};

class Wire {
public:
    static constexpr int READ_LATENCY = 20, WRITE_LATENCY = 8;
    board::SerialLine line;
    uint64_t now = 0;

    Wire(ReadRegister rr, WriteRegister wr, ReadMemory rm, WriteMemory wm, double clocks_per_bit)
        : line(clocks_per_bit), read_register_(rr), write_register_(wr), read_memory_(rm),
          write_memory_(wm), model_(new Vlink(&context_)) {
        model_->rx = 1;
        reset();
    }
    ~Wire() { model_->final(); }

    void reset() {
        reads_.clear(), writing_.clear(), burst_open_ = false, answer_at_ = 0;
        model_->rst = 1;
        for (int i = 0; i < 4; i++) cycle();
        model_->rst = 0;
    }

    void irq(bool level) { model_->irq = level; }

    void run(uint64_t cycles) {
        for (const uint64_t end = now + cycles; now < end;) cycle();
    }

private:
    struct Beat { uint64_t ready; uint8_t data[BYTES]; int response; bool last; };
    ReadRegister read_register_;
    WriteRegister write_register_;
    ReadMemory read_memory_;
    WriteMemory write_memory_;
    VerilatedContext context_;
    std::unique_ptr<Vlink> model_;
    // Memory.
    std::deque<Beat> reads_;
    std::vector<uint8_t> writing_, strobes_;
    uint32_t write_address_ = 0;
    bool burst_open_ = false;
    int answer_ = 0;
    uint64_t answer_at_ = 0;
    // Registers.
    bool lite_address_ = false, lite_data_ = false, lite_answer_ = false, lite_value_ = false;
    uint32_t lite_offset_ = 0, lite_word_ = 0;

    void cycle() {
        model_->clk = 0;
        model_->rx = line.cycle(now, model_->tx);
        model_->eval();
        const bool listens = !model_->rst;
        if (listens) sample();
        model_->clk = 1;
        model_->eval();
        now++;
        if (listens) apply();
    }

    // Handshakes of this cycle.
    void sample() {
        Vlink& p = *model_;
        if (p.axil__ar__valid && p.axil__ar__ready) {
            lite_response_ = read_register_(p.axil__ar__payload, &lite_word_);
            lite_value_ = true;
        } else if (p.axil__r__valid && p.axil__r__ready) {
            lite_value_ = false;
        }
        if (p.axil__aw__valid && p.axil__aw__ready)
            lite_offset_ = p.axil__aw__payload, lite_address_ = true;
        if (p.axil__w__valid && p.axil__w__ready)
            lite_word_ = Bits(p.axil__w__payload).get(0, 32), lite_data_ = true;
        if (p.axil__b__valid && p.axil__b__ready) lite_answer_ = false;
        if (lite_address_ && lite_data_) {
            lite_response_ = write_register_(lite_offset_, lite_word_);
            lite_address_ = lite_data_ = false, lite_answer_ = true;
        }
        if (p.read__r__valid && p.read__r__ready) reads_.pop_front();
        if (p.read__ar__valid && p.read__ar__ready) {
            const Bits pin(p.read__ar__payload);
            const uint32_t beats = pin.get(32, 8) + 1, address = pin.get(0, 32);
            std::vector<uint8_t> data(beats * BYTES);
            const int response = read_memory_(address, data.data(), data.size());
            for (uint32_t i = 0; i < beats; i++) {
                Beat beat{now + READ_LATENCY + i, {}, response, i + 1 == beats};
                std::memcpy(beat.data, &data[i * BYTES], BYTES);
                reads_.push_back(beat);
            }
        }
        if (p.write__b__valid && p.write__b__ready) answer_at_ = 0;
        if (p.write__aw__valid && p.write__aw__ready)
            write_address_ = Bits(p.write__aw__payload).get(0, 32), burst_open_ = true;
        if (p.write__w__valid && p.write__w__ready) {
            const Bits pin(p.write__w__payload);
            for (int i = 0; i < BYTES; i++) {
                writing_.push_back(pin.bytes[i]);
                strobes_.push_back(pin.get(8 * BYTES + i, 1));
            }
            if (pin.get(9 * BYTES, 1)) finish_burst();
        }
    }

    void finish_burst() {
        answer_ = 0;
        for (size_t i = 0; i < strobes_.size();) {
            size_t end = i;
            while (end < strobes_.size() && strobes_[end] == strobes_[i]) end++;
            if (strobes_[i])
                answer_ |= write_memory_(write_address_ + i, &writing_[i], end - i);
            i = end;
        }
        writing_.clear(), strobes_.clear();
        burst_open_ = false, answer_at_ = now + WRITE_LATENCY;
    }

    // Inputs of the next cycle.
    void apply() {
        Vlink& p = *model_;
        p.axil__ar__ready = !lite_value_;
        p.axil__r__valid = lite_value_;
        p.axil__aw__ready = !lite_address_ && !lite_answer_;
        p.axil__w__ready = !lite_data_ && !lite_answer_;
        p.axil__b__valid = lite_answer_;
        p.axil__b__payload = lite_response_;
        Bits word(p.axil__r__payload);
        word.set(0, 32, lite_word_), word.set(32, 2, lite_response_);
        word.put(p.axil__r__payload);
        p.read__ar__ready = reads_.size() < 64;
        p.read__r__valid = !reads_.empty() && reads_.front().ready <= now;
        if (p.read__r__valid) {
            const Beat& beat = reads_.front();
            Bits pin(p.read__r__payload);
            std::memcpy(pin.bytes, beat.data, BYTES);
            pin.set(8 * BYTES, 2, beat.response), pin.set(8 * BYTES + 2, 1, beat.last);
            pin.put(p.read__r__payload);
        }
        p.write__aw__ready = !burst_open_ && !answer_at_;
        p.write__w__ready = burst_open_;
        p.write__b__valid = answer_at_ && answer_at_ <= now;
        p.write__b__payload = answer_;
    }

    int lite_response_ = 0;
};

}  // namespace

extern "C" {

Wire* wire_new(ReadRegister rr, WriteRegister wr, ReadMemory rm, WriteMemory wm, double bit) {
    return new Wire(rr, wr, rm, wm, bit);
}
void wire_free(Wire* wire) { delete wire; }
void wire_reset(Wire* wire) { wire->reset(); }
void wire_irq(Wire* wire, int level) { wire->irq(level); }
void wire_noise(Wire* wire, uint64_t seed, double rate) { wire->line.noise.set(seed, rate); }
uint64_t wire_faults(Wire* wire) { return wire->line.noise.faults; }
uint64_t wire_now(Wire* wire) { return wire->now; }
uint64_t wire_pending(Wire* wire) { return wire->line.to_board.size(); }
void wire_send(Wire* wire, const uint8_t* data, uint64_t size) { wire->line.send(data, size); }

// Run; return the bytes that came since the last call, `capacity` at most.
uint64_t wire_run(Wire* wire, uint64_t cycles, uint8_t* into, uint64_t capacity) {
    wire->run(cycles);
    return wire->line.receive(into, capacity);
}
}
