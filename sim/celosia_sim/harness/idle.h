// Whether a variable has changed, for models whose idle rooms are not evaluated.
#pragma once

#include <cstring>

#include "verilated.h"

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
