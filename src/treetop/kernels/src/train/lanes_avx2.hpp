// Packs of 4 and 8 lanes in AVX2 registers, and of 16 as a pair of 8. A mask is a vector: all bits of a lane, or none.
#pragma once

#include <cstdint>

#include <immintrin.h>

#include "train/lanes_pair.hpp"

namespace treetop {
namespace TREETOP_ISA {

struct Lanes4 {
    static constexpr int width = 4;
    static constexpr bool splits = false;
    using Mask = __m128;
    __m128 lane;

    static Lanes4 load(const float *p) { return {_mm_loadu_ps(p)}; }
    static Lanes4 all(float x) { return {_mm_set1_ps(x)}; }
    void store(float *p) const { _mm_storeu_ps(p, lane); }
    static Mask mask(uint32_t bits) {
        const __m128i each = _mm_setr_epi32(1, 2, 4, 8);
        return _mm_castsi128_ps(_mm_cmpeq_epi32(_mm_and_si128(_mm_set1_epi32(static_cast<int>(bits)), each), each));
    }
    static uint32_t bits(Mask m) { return static_cast<uint32_t>(_mm_movemask_ps(m)); }
};

inline Lanes4 operator+(Lanes4 a, Lanes4 b) { return {_mm_add_ps(a.lane, b.lane)}; }
inline Lanes4 operator-(Lanes4 a, Lanes4 b) { return {_mm_sub_ps(a.lane, b.lane)}; }
inline Lanes4 operator*(Lanes4 a, Lanes4 b) { return {_mm_mul_ps(a.lane, b.lane)}; }
inline Lanes4 operator/(Lanes4 a, Lanes4 b) { return {_mm_div_ps(a.lane, b.lane)}; }
inline Lanes4 multiply_add(Lanes4 a, Lanes4 b, Lanes4 c) { return {_mm_fmadd_ps(a.lane, b.lane, c.lane)}; }
inline Lanes4 larger(Lanes4 a, Lanes4 b) { return {_mm_max_ps(a.lane, b.lane)}; }
inline Lanes4 smaller(Lanes4 a, Lanes4 b) { return {_mm_min_ps(a.lane, b.lane)}; }
inline Lanes4 magnitude(Lanes4 a) { return {_mm_andnot_ps(_mm_set1_ps(-0.0f), a.lane)}; }
inline Lanes4 choose(__m128 m, Lanes4 yes, Lanes4 no) { return {_mm_blendv_ps(no.lane, yes.lane, m)}; }
inline __m128 greater(Lanes4 a, Lanes4 b) { return _mm_cmp_ps(a.lane, b.lane, _CMP_GT_OQ); }

struct Lanes8 {
    static constexpr int width = 8;
    static constexpr bool splits = false;
    using Mask = __m256;
    __m256 lane;

    static Lanes8 load(const float *p) { return {_mm256_loadu_ps(p)}; }
    static Lanes8 all(float x) { return {_mm256_set1_ps(x)}; }
    void store(float *p) const { _mm256_storeu_ps(p, lane); }
    static Mask mask(uint32_t bits) {
        const __m256i each = _mm256_setr_epi32(1, 2, 4, 8, 16, 32, 64, 128);
        const __m256i spread = _mm256_and_si256(_mm256_set1_epi32(static_cast<int>(bits)), each);
        return _mm256_castsi256_ps(_mm256_cmpeq_epi32(spread, each));
    }
    static uint32_t bits(Mask m) { return static_cast<uint32_t>(_mm256_movemask_ps(m)); }
};

inline Lanes8 operator+(Lanes8 a, Lanes8 b) { return {_mm256_add_ps(a.lane, b.lane)}; }
inline Lanes8 operator-(Lanes8 a, Lanes8 b) { return {_mm256_sub_ps(a.lane, b.lane)}; }
inline Lanes8 operator*(Lanes8 a, Lanes8 b) { return {_mm256_mul_ps(a.lane, b.lane)}; }
inline Lanes8 operator/(Lanes8 a, Lanes8 b) { return {_mm256_div_ps(a.lane, b.lane)}; }
inline Lanes8 multiply_add(Lanes8 a, Lanes8 b, Lanes8 c) { return {_mm256_fmadd_ps(a.lane, b.lane, c.lane)}; }
inline Lanes8 larger(Lanes8 a, Lanes8 b) { return {_mm256_max_ps(a.lane, b.lane)}; }
inline Lanes8 smaller(Lanes8 a, Lanes8 b) { return {_mm256_min_ps(a.lane, b.lane)}; }
inline Lanes8 magnitude(Lanes8 a) { return {_mm256_andnot_ps(_mm256_set1_ps(-0.0f), a.lane)}; }
inline Lanes8 choose(__m256 m, Lanes8 yes, Lanes8 no) { return {_mm256_blendv_ps(no.lane, yes.lane, m)}; }
inline __m256 greater(Lanes8 a, Lanes8 b) { return _mm256_cmp_ps(a.lane, b.lane, _CMP_GT_OQ); }

using Lanes16 = Pair<Lanes8>;

}  // namespace TREETOP_ISA
}  // namespace treetop
