// The two functions of LZ4 that Verilator's FST writer calls, so that waveforms need no system
// package: a greedy compressor of the LZ4 block format
// (https://github.com/lz4/lz4/blob/dev/doc/lz4_Block_format.md), written for this file.
#pragma once

#include <cstdint>
#include <cstring>

inline int LZ4_compressBound(int size) { return size + size / 255 + 16; }

namespace celosia_lz4 {

inline uint32_t load(const uint8_t* p) {
    uint32_t v;
    std::memcpy(&v, p, 4);
    return v;
}

inline uint8_t* put_length(uint8_t* out, int length) {
    for (; length >= 255; length -= 255) *out++ = 255;
    *out++ = static_cast<uint8_t>(length);
    return out;
}

// A token, `literals` bytes from `from`, and (unless `match` is 0) a copy of `match` bytes.
inline uint8_t* put(uint8_t* out, const uint8_t* from, int literals, int match, int offset) {
    const int extra = match ? match - 4 : 0;
    *out++ = static_cast<uint8_t>((literals < 15 ? literals : 15) << 4 | (extra < 15 ? extra : 15));
    if (literals >= 15) out = put_length(out, literals - 15);
    std::memcpy(out, from, literals);
    out += literals;
    if (!match) return out;
    *out++ = static_cast<uint8_t>(offset);
    *out++ = static_cast<uint8_t>(offset >> 8);
    return extra >= 15 ? put_length(out, extra - 15) : out;
}

}  // namespace celosia_lz4

inline int LZ4_compress_default(const char* source, char* into, int size, int) {
    using namespace celosia_lz4;
    constexpr int HASH_BITS = 12, LAST_LITERALS = 5, LAST_MATCH = 12;
    const auto* in = reinterpret_cast<const uint8_t*>(source);
    auto* out = reinterpret_cast<uint8_t*>(into);
    int32_t table[1 << HASH_BITS];
    std::memset(table, 0xFF, sizeof table);
    int anchor = 0;
    for (int i = 0; i + LAST_MATCH <= size;) {
        const uint32_t word = load(in + i);
        int32_t& slot = table[word * 2654435761u >> (32 - HASH_BITS)];
        const int candidate = slot;
        slot = i;
        if (candidate < 0 || i - candidate > 65535 || load(in + candidate) != word) {
            i++;
            continue;
        }
        int match = 4;
        while (i + match < size - LAST_LITERALS && in[candidate + match] == in[i + match]) match++;
        out = put(out, in + anchor, i - anchor, match, i - candidate);
        i += match;
        anchor = i;
    }
    out = put(out, in + anchor, size - anchor, 0, 0);
    return static_cast<int>(out - reinterpret_cast<uint8_t*>(into));
}
