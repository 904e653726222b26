// What Verilator's library wants of C++ where there are no threads, no processes and no files: it
// is included before everything else. A model without threads starts none, so what would is a trap.
#pragma once

#define VL_IGNORE_UNKNOWN_ARCH
#define CLOCK_PROCESS_CPUTIME_ID CLOCK_MONOTONIC

#include <fstream>
#include <mutex>
#include <sstream>

namespace std {

class mutex {
public:
    void lock() {}
    bool try_lock() { return true; }
    void unlock() {}
};
class recursive_mutex : public mutex {};

class thread {
public:
    using id = int;
    thread() = default;
    template <class... Arguments>
    explicit thread(Arguments&&...) { __builtin_trap(); }
    static unsigned hardware_concurrency() { return 1; }
    void join() {}
    bool joinable() const { return false; }
    id get_id() const { return 0; }
};
namespace this_thread {
inline thread::id get_id() { return 0; }
inline void yield() {}
}

class condition_variable {
public:
    void notify_one() {}
    void notify_all() {}
    template <class... Arguments>
    void wait(Arguments&&...) { __builtin_trap(); }
};
using condition_variable_any = condition_variable;

template <>
class basic_ifstream<char, char_traits<char>> : public istringstream {
public:
    explicit basic_ifstream(const char*) { setstate(failbit); }
};

}
