// The two functions of zlib that Verilator's FST writer calls, so that waveforms need no system
// package: "compression" into stored blocks (RFC 1950, 1951). The result is longer than the input,
// and of two forms the writer keeps the shorter, so its files hold these parts uncompressed.
#pragma once

#include <cstdint>
#include <cstring>

using uLong = unsigned long;
using uLongf = unsigned long;
using Bytef = unsigned char;
constexpr int Z_OK = 0, Z_BUF_ERROR = -5;

inline uLong compressBound(uLong size) { return size + 5 * (size / 65535 + 1) + 6; }

inline int compress2(Bytef* into, uLongf* into_size, const Bytef* from, uLong size, int) {
    if (*into_size < compressBound(size)) return Z_BUF_ERROR;
    Bytef* out = into;
    *out++ = 0x78, *out++ = 0x01;
    uint32_t a = 1, b = 0;
    for (uLong i = 0; i < size; i++) a = (a + from[i]) % 65521, b = (b + a) % 65521;
    uLong done = 0;
    do {
        const uLong n = size - done < 65535 ? size - done : 65535;
        *out++ = done + n == size;
        *out++ = static_cast<Bytef>(n), *out++ = static_cast<Bytef>(n >> 8);
        *out++ = static_cast<Bytef>(~n), *out++ = static_cast<Bytef>(~n >> 8);
        std::memcpy(out, from + done, n);
        out += n, done += n;
    } while (done < size);
    for (uint32_t part : {b >> 8, b, a >> 8, a}) *out++ = static_cast<Bytef>(part);
    *into_size = static_cast<uLong>(out - into);
    return Z_OK;
}
