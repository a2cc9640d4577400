// The links on vectors of margins, as logarithms. Only steps that IEEE 754 defines to the last bit, so that every
// instruction set gives the same result.
#pragma once

#include <cfloat>
#include <cstdint>

#include "search/child_vectors.hpp"

namespace treetop {
namespace {  // internal linkage: each instruction set compiles its own copy

typedef int32_t IntLanes __attribute__((vector_size(kLanes * sizeof(int32_t))));

inline Lanes fill(float value) { return Lanes{} + value; }

// Zero of either sign becomes +0; NaN and infinity, from weights that overflow the sum, become huge numbers.
inline Lanes finite(Lanes margin) {
    const Lanes most = fill(FLT_MAX);
    const Lanes above = margin > -most ? margin : -most;
    return (above < most ? above : most) + 0.0f;
}

struct Noop {
    static Lanes log(Lanes margin) { return margin; }
};

// log exp(-max(0, 1 - v)^p)
template <int Power>
struct Hinge {
    static Lanes log(Lanes margin) {
        const Lanes zero = fill(0.0f), distance = 1.0f - margin, gap = distance > zero ? distance : zero;
        Lanes power = gap;
        for (int i = 1; i < Power; ++i) power *= gap;
        return -power;
    }
};

// exp(x) for x in [-87, 0]: 2^n e^r with |r| <= ln(2)/2, e^r by its Taylor series.
inline Lanes exp_negative(Lanes x) {
    const float shift = 12582912.0f;  // 1.5 * 2^23: adding it rounds to an integer, in the low bits
    const Lanes shifted = x * 1.44269504f + shift;
    const Lanes n = shifted - shift;
    const Lanes r = (x - n * 0.693359375f) - n * -2.12194440e-4f;  // ln(2) in two parts, the first exact
    Lanes series = fill(1.0f / 5040.0f);
    for (const float factor : {1.0f / 720.0f, 1.0f / 120.0f, 1.0f / 24.0f, 1.0f / 6.0f, 0.5f, 1.0f, 1.0f})
        series = series * r + factor;
    const IntLanes exponent = (reinterpret_cast<IntLanes>(shifted) - 0x4b400000 + 127) << 23;
    return series * reinterpret_cast<Lanes>(exponent);
}

// log(1 + t) for t in [0, 1] is 2 atanh(t / (2 + t)), by its Taylor series.
inline Lanes log_one_plus(Lanes t) {
    const Lanes s = t / (2.0f + t), square = s * s;
    Lanes series = fill(1.0f / 15.0f);
    for (const float factor : {1.0f / 13.0f, 1.0f / 11.0f, 1.0f / 9.0f, 1.0f / 7.0f, 0.2f, 1.0f / 3.0f, 1.0f})
        series = series * square + factor;
    return (s + s) * series;
}

// log 1/(1 + exp(-v)) = min(v, 0) - log(1 + exp(-|v|))
struct Sigmoid {
    static Lanes log(Lanes margin) {
        const Lanes zero = fill(0.0f), least = fill(-87.0f);
        const Lanes negative = margin < zero ? margin : -margin;
        const Lanes tail = log_one_plus(exp_negative(negative > least ? negative : least));
        return (margin < zero ? margin : zero) - tail;
    }
};

}  // namespace
}  // namespace treetop
