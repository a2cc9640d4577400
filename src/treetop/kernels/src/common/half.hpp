// IEEE half precision as raw 16 bits: weights are stored so, sums are always float.
#pragma once

#include <cstdint>
#include <cstring>

#if defined(__F16C__)
#include <immintrin.h>
#endif

namespace treetop {
namespace {  // internal linkage: each instruction set compiles its own copy

inline float from_bits(uint32_t bits) {
    float value;
    std::memcpy(&value, &bits, sizeof value);
    return value;
}

inline uint32_t to_bits(float value) {
    uint32_t bits;
    std::memcpy(&bits, &value, sizeof bits);
    return bits;
}

inline float widen(float value) { return value; }
inline float widen(int8_t value) { return value; }

inline float widen(uint16_t half) {
#if defined(__F16C__)
    return _cvtsh_ss(half);
#else
    const uint32_t sign = static_cast<uint32_t>(half & 0x8000u) << 16;
    const uint32_t magnitude = half & 0x7fffu;
    // Multiplying by 2^112 moves the exponent bias from 15 to 127 and makes subnormal halves normal floats, exactly.
    return from_bits(to_bits(from_bits(magnitude << 13) * 0x1p112f) | sign);
#endif
}

// Rounds to nearest even; the caller has checked that |value| <= 65504.
inline uint16_t narrow(float value) {
    const uint32_t bits = to_bits(value);
    const uint32_t sign = (bits >> 16) & 0x8000u;
    const uint32_t magnitude = bits & 0x7fffffffu;
    if (magnitude < 0x38800000u) {
        // Below 2^-14 the result is subnormal: adding 0.5 leaves round(value * 2^24) in the low bits.
        const float shifted = from_bits(magnitude) + 0.5f;
        return static_cast<uint16_t>(sign | (to_bits(shifted) - to_bits(0.5f)));
    }
    const uint32_t rounded = magnitude + 0x0fffu + ((magnitude >> 13) & 1u);
    return static_cast<uint16_t>(sign | ((rounded - 0x38000000u) >> 13));
}

}  // namespace
}  // namespace treetop
