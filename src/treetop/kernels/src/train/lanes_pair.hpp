// Two packs side by side behave as one of twice the width.
#pragma once

#include <cstdint>

namespace treetop {
namespace TREETOP_ISA {

template <typename HalfLanes>
struct Pair {
    using Half = HalfLanes;
    static constexpr int width = 2 * Half::width;
    static constexpr bool splits = true;  // a half may be left out where it has nothing to do
    struct Mask {
        typename Half::Mask low, high;
    };
    Half low, high;

    static Pair load(const float *p) { return {Half::load(p), Half::load(p + Half::width)}; }
    static Pair all(float x) { return {Half::all(x), Half::all(x)}; }
    void store(float *p) const {
        low.store(p);
        high.store(p + Half::width);
    }
    static Mask mask(uint32_t bits) { return {Half::mask(bits), Half::mask(bits >> Half::width)}; }
    static uint32_t bits(Mask m) { return Half::bits(m.low) | Half::bits(m.high) << Half::width; }
};

template <typename H>
Pair<H> operator+(Pair<H> a, Pair<H> b) {
    return {a.low + b.low, a.high + b.high};
}
template <typename H>
Pair<H> operator-(Pair<H> a, Pair<H> b) {
    return {a.low - b.low, a.high - b.high};
}
template <typename H>
Pair<H> operator*(Pair<H> a, Pair<H> b) {
    return {a.low * b.low, a.high * b.high};
}
template <typename H>
Pair<H> operator/(Pair<H> a, Pair<H> b) {
    return {a.low / b.low, a.high / b.high};
}
template <typename H>
Pair<H> multiply_add(Pair<H> a, Pair<H> b, Pair<H> c) {
    return {multiply_add(a.low, b.low, c.low), multiply_add(a.high, b.high, c.high)};
}
template <typename H>
Pair<H> larger(Pair<H> a, Pair<H> b) {
    return {larger(a.low, b.low), larger(a.high, b.high)};
}
template <typename H>
Pair<H> smaller(Pair<H> a, Pair<H> b) {
    return {smaller(a.low, b.low), smaller(a.high, b.high)};
}
template <typename H>
Pair<H> magnitude(Pair<H> a) {
    return {magnitude(a.low), magnitude(a.high)};
}
template <typename H>
Pair<H> choose(typename Pair<H>::Mask m, Pair<H> yes, Pair<H> no) {
    return {choose(m.low, yes.low, no.low), choose(m.high, yes.high, no.high)};
}
template <typename H>
typename Pair<H>::Mask greater(Pair<H> a, Pair<H> b) {
    return {greater(a.low, b.low), greater(a.high, b.high)};
}

}  // namespace TREETOP_ISA
}  // namespace treetop
