// Packs of 4, 8 and 16 lanes with AVX-512 (VL for the narrow ones). A mask is one bit per lane, in a mask register.
#pragma once

#include <cstdint>

#include <immintrin.h>

namespace treetop {
namespace TREETOP_ISA {

// Mask types of 8 bits serve 4 and 8 lanes alike, so they are told apart by a wrapper.
template <typename Bits, int N>
struct LaneMask {
    Bits bits;
};

struct Lanes4 {
    static constexpr int width = 4;
    static constexpr bool splits = false;
    using Mask = LaneMask<__mmask8, 4>;
    __m128 lane;

    static Lanes4 load(const float *p) { return {_mm_loadu_ps(p)}; }
    static Lanes4 all(float x) { return {_mm_set1_ps(x)}; }
    void store(float *p) const { _mm_storeu_ps(p, lane); }
    static Mask mask(uint32_t bits) { return {static_cast<__mmask8>(bits & 0xF)}; }
    static uint32_t bits(Mask m) { return m.bits; }
};

inline Lanes4 operator+(Lanes4 a, Lanes4 b) { return {_mm_add_ps(a.lane, b.lane)}; }
inline Lanes4 operator-(Lanes4 a, Lanes4 b) { return {_mm_sub_ps(a.lane, b.lane)}; }
inline Lanes4 operator*(Lanes4 a, Lanes4 b) { return {_mm_mul_ps(a.lane, b.lane)}; }
inline Lanes4 operator/(Lanes4 a, Lanes4 b) { return {_mm_div_ps(a.lane, b.lane)}; }
inline Lanes4 multiply_add(Lanes4 a, Lanes4 b, Lanes4 c) { return {_mm_fmadd_ps(a.lane, b.lane, c.lane)}; }
inline Lanes4 larger(Lanes4 a, Lanes4 b) { return {_mm_max_ps(a.lane, b.lane)}; }
inline Lanes4 smaller(Lanes4 a, Lanes4 b) { return {_mm_min_ps(a.lane, b.lane)}; }
inline Lanes4 magnitude(Lanes4 a) { return {_mm_andnot_ps(_mm_set1_ps(-0.0f), a.lane)}; }
inline Lanes4 choose(Lanes4::Mask m, Lanes4 yes, Lanes4 no) {
    return {_mm_mask_blend_ps(m.bits, no.lane, yes.lane)};
}
inline Lanes4::Mask greater(Lanes4 a, Lanes4 b) { return {_mm_cmp_ps_mask(a.lane, b.lane, _CMP_GT_OQ)}; }

struct Lanes8 {
    static constexpr int width = 8;
    static constexpr bool splits = false;
    using Mask = LaneMask<__mmask8, 8>;
    __m256 lane;

    static Lanes8 load(const float *p) { return {_mm256_loadu_ps(p)}; }
    static Lanes8 all(float x) { return {_mm256_set1_ps(x)}; }
    void store(float *p) const { _mm256_storeu_ps(p, lane); }
    static Mask mask(uint32_t bits) { return {static_cast<__mmask8>(bits)}; }
    static uint32_t bits(Mask m) { return m.bits; }
};

inline Lanes8 operator+(Lanes8 a, Lanes8 b) { return {_mm256_add_ps(a.lane, b.lane)}; }
inline Lanes8 operator-(Lanes8 a, Lanes8 b) { return {_mm256_sub_ps(a.lane, b.lane)}; }
inline Lanes8 operator*(Lanes8 a, Lanes8 b) { return {_mm256_mul_ps(a.lane, b.lane)}; }
inline Lanes8 operator/(Lanes8 a, Lanes8 b) { return {_mm256_div_ps(a.lane, b.lane)}; }
inline Lanes8 multiply_add(Lanes8 a, Lanes8 b, Lanes8 c) { return {_mm256_fmadd_ps(a.lane, b.lane, c.lane)}; }
inline Lanes8 larger(Lanes8 a, Lanes8 b) { return {_mm256_max_ps(a.lane, b.lane)}; }
inline Lanes8 smaller(Lanes8 a, Lanes8 b) { return {_mm256_min_ps(a.lane, b.lane)}; }
inline Lanes8 magnitude(Lanes8 a) { return {_mm256_andnot_ps(_mm256_set1_ps(-0.0f), a.lane)}; }
inline Lanes8 choose(Lanes8::Mask m, Lanes8 yes, Lanes8 no) {
    return {_mm256_mask_blend_ps(m.bits, no.lane, yes.lane)};
}
inline Lanes8::Mask greater(Lanes8 a, Lanes8 b) { return {_mm256_cmp_ps_mask(a.lane, b.lane, _CMP_GT_OQ)}; }

struct Lanes16 {
    static constexpr int width = 16;
    static constexpr bool splits = false;
    using Mask = LaneMask<__mmask16, 16>;
    __m512 lane;

    static Lanes16 load(const float *p) { return {_mm512_loadu_ps(p)}; }
    static Lanes16 all(float x) { return {_mm512_set1_ps(x)}; }
    void store(float *p) const { _mm512_storeu_ps(p, lane); }
    static Mask mask(uint32_t bits) { return {static_cast<__mmask16>(bits)}; }
    static uint32_t bits(Mask m) { return m.bits; }
};

inline Lanes16 operator+(Lanes16 a, Lanes16 b) { return {_mm512_add_ps(a.lane, b.lane)}; }
inline Lanes16 operator-(Lanes16 a, Lanes16 b) { return {_mm512_sub_ps(a.lane, b.lane)}; }
inline Lanes16 operator*(Lanes16 a, Lanes16 b) { return {_mm512_mul_ps(a.lane, b.lane)}; }
inline Lanes16 operator/(Lanes16 a, Lanes16 b) { return {_mm512_div_ps(a.lane, b.lane)}; }
inline Lanes16 multiply_add(Lanes16 a, Lanes16 b, Lanes16 c) { return {_mm512_fmadd_ps(a.lane, b.lane, c.lane)}; }
inline Lanes16 larger(Lanes16 a, Lanes16 b) { return {_mm512_max_ps(a.lane, b.lane)}; }
inline Lanes16 smaller(Lanes16 a, Lanes16 b) { return {_mm512_min_ps(a.lane, b.lane)}; }
inline Lanes16 magnitude(Lanes16 a) { return {_mm512_abs_ps(a.lane)}; }
inline Lanes16 choose(Lanes16::Mask m, Lanes16 yes, Lanes16 no) {
    return {_mm512_mask_blend_ps(m.bits, no.lane, yes.lane)};
}
inline Lanes16::Mask greater(Lanes16 a, Lanes16 b) { return {_mm512_cmp_ps_mask(a.lane, b.lane, _CMP_GT_OQ)}; }

}  // namespace TREETOP_ISA
}  // namespace treetop
