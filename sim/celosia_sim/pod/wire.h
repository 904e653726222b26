// The way to another process, over which the words of links go that have an end in each.
//
// Each side sends what its ends have sent in a window as soon as that is known: the cycle behind it,
// then the words, end after end, in an order that both know. Nobody polls, and nobody waits for more
// than what its next window needs. A process that has come to its end reads no more, and the socket
// takes few windows if they are short: nobody waits for it to take what it does not need by then.
#pragma once

#include <poll.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <cstring>
#include <deque>
#include <vector>

#include "line.h"

class Wire {
public:
    explicit Wire(int fd) : fd_(fd) {}

    std::vector<Line*> out, in;

    bool wants(uint64_t until) const { return known_ < until; }
    bool pending() const { return sent_ < out_.size(); }

    // Whether a window that begins before a cycle has not gone out as a whole.
    bool owes(uint64_t until) const { return !windows_.empty() && windows_.front().from < until; }

    // What our ends have sent in the cycles from..until goes out, as far as it can without waiting;
    // false: the other process is gone.
    bool put(uint64_t from, uint64_t until, uint64_t word_bytes) {
        if (!pending() || sent_ > PIECE) {
            out_.erase(out_.begin(), out_.begin() + sent_);
            for (Window& window : windows_) window.end -= sent_;
            sent_ = 0;
        }
        const auto* cycle = reinterpret_cast<const uint8_t*>(&until);
        out_.insert(out_.end(), cycle, cycle + sizeof until);
        for (Line* line : out) {
            const uint8_t* words = line->at(from);
            out_.insert(out_.end(), words, words + (until - from) * word_bytes);
        }
        windows_.push_back({from, out_.size()});
        return move(POLLOUT);
    }

    // Take windows that have come whole, as far as they are wanted; false: this is none.
    bool take(uint64_t until, uint64_t least, uint64_t word_bytes) {
        size_t at = 0;
        while (known_ < until && in_.size() - at >= sizeof known_) {
            uint64_t next;
            std::memcpy(&next, &in_[at], sizeof next);
            if (next <= known_ || next > (known_ / least + 1) * least) return false;
            const uint64_t bytes = (next - known_) * word_bytes;
            if (in_.size() - at - sizeof next < bytes * in.size()) break;
            at += sizeof next;
            for (Line* line : in) {
                std::memcpy(line->at(known_), &in_[at], bytes);
                at += bytes;
            }
            known_ = next;
        }
        in_.erase(in_.begin(), in_.begin() + at);
        return true;
    }

    // What came before a cycle is in the lines.
    void know(uint64_t until) { known_ = until; }

    // A neighbour is at most the least latency ahead: what is more than that stays in the socket.
    pollfd events(uint64_t least, uint64_t word_bytes) const {
        const uint64_t most = 2 * least * (sizeof known_ + in.size() * word_bytes) + PIECE;
        return {fd_, static_cast<short>((in_.size() < most ? POLLIN : 0) | (pending() ? POLLOUT : 0)), 0};
    }

    // Move what can be moved without waiting; false: the other process is gone.
    bool move(short events) {
        if (events & POLLOUT) {
            const ssize_t n = send(fd_, &out_[sent_], out_.size() - sent_, MSG_DONTWAIT | MSG_NOSIGNAL);
            if (n > 0) sent_ += n;
            while (!windows_.empty() && windows_.front().end <= sent_) windows_.pop_front();
            if (n < 0 && errno != EAGAIN && errno != EINTR) return false;
        }
        if (events & (POLLIN | POLLHUP | POLLERR)) {
            uint8_t bytes[PIECE];
            const ssize_t n = recv(fd_, bytes, sizeof bytes, MSG_DONTWAIT);
            if (n > 0) in_.insert(in_.end(), bytes, bytes + n);
            else if (n == 0 || (errno != EAGAIN && errno != EINTR)) return false;
        }
        return true;
    }

    // The process at the other end is not to wait for us.
    void hang_up() { shutdown(fd_, SHUT_RDWR); }

private:
    struct Window {
        uint64_t from;
        size_t end;  // in what goes out
    };
    static constexpr size_t PIECE = 1 << 16;
    int fd_;
    std::vector<uint8_t> out_, in_;
    size_t sent_ = 0;
    std::deque<Window> windows_;  // those that have not gone out as a whole
    uint64_t known_ = 0;  // what came before this cycle is in its lines
};
