// Two ends of a link (celosia_hw.ici.layer), lines between them that garble and are as long as they
// like, and words that must come out as they went in.
#include <cstdint>
#include <deque>
#include <memory>
#include <random>
#include <vector>

#include "Vlayer.h"
#include "line.h"
#include "verilated.h"
#include "layer_config.h"

double sc_time_stamp() { return 0; }

namespace {

constexpr uint64_t LINE_BYTES = 5;

uint32_t word_of(uint64_t seed, uint64_t number) {
    uint64_t x = (seed << 40) + number + 0x9E3779B97F4A7C15u;
    x = (x ^ x >> 30) * 0xBF58476D1CE4E5B9u;
    x = (x ^ x >> 27) * 0x94D049BB133111EBu;
    return static_cast<uint32_t>(x >> 16);
}

// Pauses: now and then a long one, else a cycle with some chance.
class Pauses {
public:
    Pauses(std::mt19937_64& random, double rate) : random_(random), rate_(rate) {}
    bool pause() {
        if (left_) return left_--, true;
        const uint64_t drawn = random_() & 0xFFFFFF;
        if (drawn < 8) left_ = random_() % 3000;
        return drawn < rate_ * 0x1000000;
    }

private:
    std::mt19937_64& random_;
    double rate_;
    uint64_t left_ = 0;
};

struct Side {
    Side(VerilatedContext* context, std::mt19937_64& random, uint64_t seed, uint64_t latency, double rate,
         double errors)
        : chip(new Vlayer(context)), seed(seed), line(latency, 0), noise(random(), errors, LINE_BYTES),
          gives(random, rate), takes(random, rate) {}

    std::unique_ptr<Vlayer> chip;
    uint64_t seed, given = 0, taken = 0, left = 0;
    uint64_t size = 0;  // of its frames
    std::deque<uint64_t> line;  // what this side has sent, and the other one has not seen
    Noise noise;
    Pauses gives, takes;
    uint64_t frames = 0, resent = 0, garbled = 0;
};

}  // namespace

extern "C" {

// Send words both ways until so many frames have come whole. `found`: frames, words, cycles, frames
// sent again, frames that were garbled, and of the first wrong word which one it is. 0: all is well;
// 1: a word is wrong; 2: nothing comes any more.
int linkcheck_run(uint64_t seed, uint64_t frames, uint64_t latency_a, uint64_t latency_b, double rate,
                  double errors, uint64_t* found) {
    std::mt19937_64 random(seed);
    VerilatedContext context;
    Side sides[2] = {{&context, random, 2 * seed, latency_a, rate, errors},
                     {&context, random, 2 * seed + 1, latency_b, rate, errors}};
    for (Side& side : sides) {
        Vlayer& pins = *side.chip;
        pins.rst = 1, pins.i__valid = 0, pins.o__ready = 0, pins.rx = 0;
        for (int i = 0; i < 4; i++) pins.clk = 0, pins.eval(), pins.clk = 1, pins.eval();
        pins.rst = 0, pins.clk = 0, pins.eval();
    }
    uint64_t cycle = 0, last = 0;
    int state = 0;
    while (!state && sides[0].frames + sides[1].frames < frames) {
        for (int i = 0; i < 2; i++) {
            Side &side = sides[i], &other = sides[1 - i];
            Vlayer& pins = *side.chip;
            // A word that was offered stays.
            if (!pins.i__valid && !side.gives.pause()) {
                if (!side.left) {
                    side.left = 1 + random() % (random() % 4 ? 40 : 400);
                    side.size = 0;
                    for (uint64_t most : SHORT_MESSAGES) side.size += side.left >= most;
                }
                const uint64_t flags = (side.left == 1) | side.size << 1;
                pins.i__payload = flags << 32 | word_of(side.seed, side.given);
                pins.i__valid = 1;
            }
            pins.o__ready = !side.takes.pause();
            uint64_t word = other.line.front();
            uint8_t bytes[LINE_BYTES];
            bytes[0] = word & 3;
            for (uint64_t k = 1; k < LINE_BYTES; k++) bytes[k] = word >> (2 + 8 * (k - 1));
            if (side.noise.any()) side.noise.pass(bytes);
            word = bytes[0] & 3;
            for (uint64_t k = 1; k < LINE_BYTES; k++) word |= uint64_t{bytes[k]} << (2 + 8 * (k - 1));
            pins.rx = word;
            pins.eval();
        }
        for (int i = 0; i < 2; i++) {
            Side &side = sides[i], &other = sides[1 - i];
            Vlayer& pins = *side.chip;
            const bool gave = pins.i__valid && pins.i__ready;
            if (gave) side.given++, side.left--;
            if (pins.o__valid && pins.o__ready) {
                if (side.taken >= other.given || pins.o__payload != word_of(other.seed, side.taken)) {
                    found[5] = side.taken;
                    state = 1;
                }
                side.taken++, last = cycle;
            }
            side.frames += pins.got, side.resent += pins.resent, side.garbled += pins.garbled;
            side.line.pop_front();
            side.line.push_back(pins.tx);
            pins.clk = 1, pins.eval();
            pins.clk = 0;
            if (gave) pins.i__valid = 0;
        }
        if (++cycle - last > 1'000'000) state = 2;
    }
    found[0] = sides[0].frames + sides[1].frames, found[1] = sides[0].taken + sides[1].taken;
    found[2] = cycle, found[3] = sides[0].resent + sides[1].resent;
    found[4] = sides[0].garbled + sides[1].garbled;
    return state;
}

}
