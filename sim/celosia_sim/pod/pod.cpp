// Chips in this process, the links between them, and those that lead to chips of other processes.
//
// Chips take turns of a window of cycles, which is not longer than any link's latency: no chip ever
// sees a word that has not been sent, whatever the order of turns, the window, the threads and the
// processes. All processes are asked for the same cycles.
#include <algorithm>
#include <atomic>
#include <chrono>

#include "crew.h"
#include "line.h"
#include "wire.h"

// As of celosia_sim.pod.library, in its order.
struct ChipFunctions {
    int (*pass)(void* chip, uint64_t cycles, const uint8_t* const* in, uint8_t* const* out);
    void (*begin_write)(void* chip, uint32_t offset, uint32_t value);
    void (*begin_read)(void* chip, uint32_t offset);
    int (*end_access)(void* chip, uint32_t* value);
    int (*interrupt)(void* chip);
};

struct PodOptions {
    void* const* chips;
    uint64_t count, first, ports, link_bytes, least, window, threads, seed;
    double errors, patience;  // chance of a bit to be turned; seconds that a neighbour may take
    const int32_t* peers;     // of each end the other one; -1: nowhere; else -2 - a crossing
    const uint64_t* latencies;  // of the link of each end, then of each crossing; `least` of all
    uint64_t crossings, wires;
    const int32_t *crossing_end, *crossing_wire;  // of each crossing: our end, and its way
    const int32_t* fds;                           // of each way to another process
};

enum class Stop : int { CYCLES = 0, VIOLATION = 2, GONE = 4, SILENT = 5 };

class Pod {
public:
    Pod(const ChipFunctions& functions, const PodOptions& options)
        : call_(functions), o_(options), chips_(o_.chips, o_.chips + o_.count),
          word_bytes_(1 + o_.link_bytes), crew_(static_cast<int>(o_.threads), [this] { work(); }) {
        const uint64_t ends = o_.count * o_.ports;
        for (uint64_t i = 0; i < ends + o_.crossings; i++)
            lines_.emplace_back(o_.latencies[i], o_.least, word_bytes_);
        for (uint64_t i = 0; i < o_.wires; i++) wires_.emplace_back(o_.fds[i]);
        for (uint64_t i = 0; i < o_.crossings; i++) {
            Wire& wire = wires_[o_.crossing_wire[i]];
            wire.out.push_back(&lines_[o_.crossing_end[i]]);
            wire.in.push_back(&lines_[ends + i]);
        }
        for (uint64_t end = 0; end < ends; end++) {
            const int32_t peer = o_.peers[end];
            from_.push_back(peer == -1 ? nullptr : &lines_[peer >= 0 ? peer : ends - 2 - peer]);
            noise_.emplace_back(o_.seed * 7919 + o_.first * o_.ports + end, o_.errors, word_bytes_);
        }
    }

    // Read or write a register of each chip, in the same cycle; the worst response.
    int access(uint32_t offset, uint32_t* values, bool write, uint64_t cycles) {
        for (size_t i = 0; i < chips_.size(); i++) {
            if (write) call_.begin_write(chips_[i], offset, values[i]);
            else call_.begin_read(chips_[i], offset);
        }
        const Stop stop = advance(cycles);
        int worst = 0;
        for (size_t i = 0; i < chips_.size(); i++)
            if (const int response = call_.end_access(chips_[i], write ? nullptr : &values[i]))
                worst = response;
        return stop == Stop::CYCLES ? worst : -1 - static_cast<int>(stop);
    }

    // Let cycles pass. No window goes beyond a multiple of the least latency: its words lie one
    // behind the other.
    Stop advance(uint64_t cycles) {
        for (const uint64_t end = now_ + cycles; now_ < end; now_ = until_) {
            until_ = std::min({now_ + o_.window, (now_ / o_.least + 1) * o_.least, end});
            const Stop stop = exchange(before(until_), 0);
            if (stop != Stop::CYCLES) return stop;
            next_ = 0;
            crew_.run();
            if (violated_) return give_up(-1, Stop::VIOLATION);
            for (size_t i = 0; i < wires_.size(); i++)
                if (!wires_[i].put(now_, until_, word_bytes_)) return give_up(i, Stop::GONE);
        }
        return exchange(0, before(now_));  // the others come as far as this without us
    }

    bool interrupts() const {
        return std::all_of(chips_.begin(), chips_.end(), [this](void* c) { return call_.interrupt(c); });
    }

    void hashes(uint64_t* into) const {
        for (uint64_t end = 0; end < o_.count * o_.ports; end++) *into++ = lines_[end].hash;
    }

    // All that is on the lines, and when; not the chips. What others have sent by now comes first.
    Stop keep(State& state) {
        const Stop stop = state.loads() ? Stop::CYCLES : exchange(now_, now_);
        if (stop != Stop::CYCLES) return stop;
        state(now_);
        for (Line& line : lines_) line.keep(state);
        for (Noise& noise : noise_) noise.keep(state);
        for (Wire& wire : wires_) wire.know(now_);
        return Stop::CYCLES;
    }

    int gone = -1;  // which way leads to a process that does not answer

private:
    const ChipFunctions call_;
    const PodOptions o_;
    const std::vector<void*> chips_;
    const uint64_t word_bytes_;
    std::vector<Line> lines_;   // of our ends, then of those of others that lead to us
    std::vector<Line*> from_;   // what comes to each end
    std::vector<Noise> noise_;
    std::vector<Wire> wires_;
    uint64_t now_ = 0, until_ = 0;
    std::atomic<uint64_t> next_{0};
    std::atomic<bool> violated_{false};
    Crew crew_;  // the last: its threads use the others

    // What is sent from this cycle on nobody sees before the given one.
    uint64_t before(uint64_t cycle) const { return cycle > o_.least ? cycle - o_.least : 0; }

    // A thread's turn: chips that no other one has taken. It writes what they send in this window,
    // and reads what others have sent before it.
    void work() {
        const uint64_t cycles = until_ - now_, ports = o_.ports;
        std::vector<uint8_t> room(ports * cycles * word_bytes_);
        std::vector<const uint8_t*> in(ports);
        std::vector<uint8_t*> out(ports);
        for (uint64_t chip; (chip = next_++) < chips_.size();) {
            for (uint64_t port = 0; port < ports; port++) {
                const uint64_t end = chip * ports + port;
                out[port] = lines_[end].at(now_);
                uint8_t* words = &room[port * cycles * word_bytes_];
                in[port] = from_[end] ? from_[end]->coming(now_, cycles, words) : nullptr;
                if (!in[port] || !noise_[end].any()) continue;
                if (in[port] != words) std::memcpy(words, in[port], cycles * word_bytes_);
                for (uint64_t i = 0; i < cycles; i++) noise_[end].pass(words + i * word_bytes_);
                in[port] = words;
            }
            if (!call_.pass(chips_[chip], cycles, in.data(), out.data())) violated_ = true;
            for (uint64_t port = 0; port < ports; port++)
                lines_[chip * ports + port].note(now_, until_);
        }
    }

    // Until what others have sent before a cycle is there, and what we have sent before another one
    // is gone.
    Stop exchange(uint64_t until, uint64_t owed) {
        std::vector<pollfd> polled(wires_.size());
        for (bool first = true;; first = false) {
            bool waits = false;
            for (size_t i = 0; i < wires_.size(); i++) {
                Wire& wire = wires_[i];
                if (!wire.take(until, o_.least, word_bytes_)) return give_up(i, Stop::GONE);
                const bool needed = wire.wants(until) || wire.owes(owed);
                polled[i] = wire.events(o_.least, word_bytes_);
                waits |= needed;
                // Who is waited for by nobody and waits for nobody may be behind, or gone.
                if (!needed && !wire.pending()) polled[i].fd = -1;
            }
            if (!waits) return Stop::CYCLES;
            // At first without waiting: most of the time something is there.
            const int ready = first ? 1 : poll(polled.data(), polled.size(),
                                               static_cast<int>(1000 * o_.patience));
            if (ready < 0 && errno != EINTR) return give_up(0, Stop::GONE);
            for (size_t i = 0; i < wires_.size(); i++) {
                if (ready == 0 && (wires_[i].wants(until) || wires_[i].owes(owed)))
                    return give_up(i, Stop::SILENT);
                const short events = first ? polled[i].events : polled[i].revents;
                if (ready > 0 && polled[i].fd >= 0 && events && !wires_[i].move(events))
                    return give_up(i, Stop::GONE);
            }
        }
    }

    Stop give_up(int wire, Stop stop) {
        gone = wire;
        for (Wire& each : wires_) each.hang_up();
        return stop;
    }
};

extern "C" {

Pod* pod_new(const ChipFunctions* functions, const PodOptions* options) {
    return new Pod(*functions, *options);
}
void pod_free(Pod* pod) { delete pod; }
int pod_access(Pod* pod, uint32_t offset, uint32_t* values, int write, uint64_t cycles) {
    return pod->access(offset, values, write != 0, cycles);
}
int pod_advance(Pod* pod, uint64_t cycles) { return static_cast<int>(pod->advance(cycles)); }
int pod_interrupts(Pod* pod) { return pod->interrupts(); }
int pod_gone(Pod* pod) { return pod->gone; }
// See State; the bytes, or 0 if those that were to be loaded are not of such a pod; < 0: a Stop.
int64_t pod_state(Pod* pod, int way, uint8_t* at, uint64_t size) {
    State state(static_cast<State::Way>(way), at, size);
    const Stop stop = pod->keep(state);
    return stop == Stop::CYCLES ? static_cast<int64_t>(state.end()) : -static_cast<int>(stop);
}
void pod_hashes(Pod* pod, uint64_t* into) { pod->hashes(into); }

}
