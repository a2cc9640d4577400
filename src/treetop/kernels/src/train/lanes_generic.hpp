// A pack of lanes in plain loops, which compilers turn into NEON or SSE. Every other pack has the same functions.
#pragma once

#include <cmath>
#include <cstdint>

namespace treetop {
namespace TREETOP_ISA {

template <int N>
struct Loops {
    static constexpr int width = N;
    static constexpr bool splits = false;
    struct Mask {
        uint32_t bits;
    };
    float lane[N];

    template <typename F>
    static Loops each(F f) {
        Loops r;
        for (int i = 0; i < N; ++i) r.lane[i] = f(i);
        return r;
    }
    template <typename F>
    static Mask test(F f) {
        uint32_t bits = 0;
        for (int i = 0; i < N; ++i) bits |= static_cast<uint32_t>(f(i)) << i;
        return {bits};
    }
    static Loops load(const float *p) {
        return each([&](int i) { return p[i]; });
    }
    static Loops all(float x) {
        return each([&](int) { return x; });
    }
    void store(float *p) const {
        for (int i = 0; i < N; ++i) p[i] = lane[i];
    }
    static Mask mask(uint32_t bits) { return {bits}; }
    static uint32_t bits(Mask m) { return m.bits; }
};

template <int N>
Loops<N> operator+(Loops<N> a, Loops<N> b) {
    return Loops<N>::each([&](int i) { return a.lane[i] + b.lane[i]; });
}
template <int N>
Loops<N> operator-(Loops<N> a, Loops<N> b) {
    return Loops<N>::each([&](int i) { return a.lane[i] - b.lane[i]; });
}
template <int N>
Loops<N> operator*(Loops<N> a, Loops<N> b) {
    return Loops<N>::each([&](int i) { return a.lane[i] * b.lane[i]; });
}
template <int N>
Loops<N> operator/(Loops<N> a, Loops<N> b) {
    return Loops<N>::each([&](int i) { return a.lane[i] / b.lane[i]; });
}
template <int N>
Loops<N> multiply_add(Loops<N> a, Loops<N> b, Loops<N> c) {
    return Loops<N>::each([&](int i) { return a.lane[i] * b.lane[i] + c.lane[i]; });
}
template <int N>
Loops<N> larger(Loops<N> a, Loops<N> b) {
    return Loops<N>::each([&](int i) { return a.lane[i] > b.lane[i] ? a.lane[i] : b.lane[i]; });
}
template <int N>
Loops<N> smaller(Loops<N> a, Loops<N> b) {
    return Loops<N>::each([&](int i) { return a.lane[i] < b.lane[i] ? a.lane[i] : b.lane[i]; });
}
template <int N>
Loops<N> magnitude(Loops<N> a) {
    return Loops<N>::each([&](int i) { return std::fabs(a.lane[i]); });
}
template <int N>
Loops<N> choose(typename Loops<N>::Mask m, Loops<N> yes, Loops<N> no) {
    return Loops<N>::each([&](int i) { return (m.bits >> i & 1) ? yes.lane[i] : no.lane[i]; });
}
template <int N>
typename Loops<N>::Mask greater(Loops<N> a, Loops<N> b) {
    return Loops<N>::test([&](int i) { return a.lane[i] > b.lane[i]; });
}

using Lanes4 = Loops<4>;
using Lanes8 = Loops<8>;
using Lanes16 = Loops<16>;

}  // namespace TREETOP_ISA
}  // namespace treetop
