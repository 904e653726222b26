// Whether a variable has changed, for models of which only what reads such is evaluated.
#pragma once

#include <cstring>

#include "verilated.h"

// A run: a function of its own, whose name profilers of the host see.
#define IDLE_RUN __attribute__((noinline, visibility("protected")))

template <class T>
inline bool idle_differ(const T& before, const T& now) {
    return before != now;
}

template <std::size_t WORDS>
inline bool idle_differ(const VlWide<WORDS>& before, const VlWide<WORDS>& now) {
    EData differ = 0;  // no branch between words: a vector instruction or two
    for (std::size_t i = 0; i < WORDS; ++i) differ |= before.m_storage[i] ^ now.m_storage[i];
    return differ != 0;
}

template <class T, std::size_t DEPTH>
inline bool idle_differ(const VlUnpacked<T, DEPTH>& before, const VlUnpacked<T, DEPTH>& now) {
    return std::memcmp(&before, &now, sizeof before) != 0;
}

// Assign, and note in `changed` whether the value is another one.
template <class T, class V>
inline void idle_set(QData& changed, T& target, const V& value) {
    const T now = value;
    changed |= now ^ target;
    target = now;
}

template <std::size_t WORDS>
inline void idle_set(QData& changed, VlWide<WORDS>& target, const VlWide<WORDS>& value) {
    EData differ = 0;
    for (std::size_t i = 0; i < WORDS; ++i) differ |= target.m_storage[i] ^ value.m_storage[i];
    changed |= differ;
    target = value;
}

// Whether one of eight runs is awake.
inline bool idle_any(const CData* awake) {
    QData all;
    std::memcpy(&all, awake, sizeof all);
    return all != 0;
}
