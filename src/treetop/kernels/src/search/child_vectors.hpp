// A few children side by side; the compiler maps it to the vectors of the instruction set in hand.
#pragma once

#include <cstdint>

#include "common/half.hpp"

namespace treetop {
namespace {  // internal linkage: each instruction set compiles its own copy

#if defined(TREETOP_ISA_generic)
constexpr int64_t kLanes = 4;
#else
constexpr int64_t kLanes = 8;
#endif
typedef float Lanes __attribute__((vector_size(kLanes * sizeof(float))));
typedef float UnalignedLanes __attribute__((vector_size(kLanes * sizeof(float)), aligned(4), may_alias));

inline Lanes load(const float *from) { return *reinterpret_cast<const UnalignedLanes *>(from); }

inline Lanes load(const uint16_t *from) {
#if defined(__F16C__)
    return reinterpret_cast<Lanes>(_mm256_cvtph_ps(_mm_loadu_si128(reinterpret_cast<const __m128i *>(from))));
#else
    Lanes lanes;
    for (int64_t i = 0; i < kLanes; ++i) lanes[i] = widen(from[i]);
    return lanes;
#endif
}

inline Lanes load(const int8_t *from) {
#if defined(__AVX2__)
    const __m128i bytes = _mm_loadl_epi64(reinterpret_cast<const __m128i *>(from));
    return reinterpret_cast<Lanes>(_mm256_cvtepi32_ps(_mm256_cvtepi8_epi32(bytes)));
#else
    Lanes lanes;
    for (int64_t i = 0; i < kLanes; ++i) lanes[i] = widen(from[i]);
    return lanes;
#endif
}

inline void store(Lanes lanes, float *to) { *reinterpret_cast<UnalignedLanes *>(to) = lanes; }

}  // namespace
}  // namespace treetop
