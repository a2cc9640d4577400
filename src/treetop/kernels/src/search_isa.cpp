// The inner loops of the search. Everything but the exported table has internal linkage: the linker must never mix
// the code of two instruction sets.
#include <cfloat>
#include <cmath>
#include <cstdint>

#include "half.hpp"
#include "search_kernels.hpp"

namespace treetop {
namespace {

inline int64_t count_bits(uint64_t word) { return __builtin_popcountll(word); }

// Without a branch: a miss is overwritten by the next feature.
int64_t find(const RowBits *bits, const int32_t *feature, const float *value, int64_t size, int64_t first_row,
             Hit *hits) {
    int64_t found = 0;
    for (int64_t i = 0; i < size; ++i) {
        const uint32_t id = static_cast<uint32_t>(feature[i]);
        const RowBits &word = bits[id >> 6];
        const uint64_t below = word.present & ((uint64_t{1} << (id & 63)) - 1);
        hits[found] = {first_row + static_cast<int64_t>(word.before) + count_bits(below), value[i], 0};
        found += (word.present >> (id & 63)) & 1;
    }
    return found;
}

template <typename Child, typename Value>
void add_rows_of(const Level &level, const Hit *hits, int64_t size, int64_t stride, float *margins) {
    const auto *child = static_cast<const Child *>(level.entry_child);
    const auto *weight = static_cast<const Value *>(level.entry_value);
    for (int64_t h = 0; h < size; ++h) {
        const Hit hit = hits[h];
        float *out = margins + hit.slot * stride;
        const int64_t end = level.entry_ptr[hit.row + 1];
        for (int64_t e = level.entry_ptr[hit.row]; e < end; ++e) out[child[e]] += hit.value * widen(weight[e]);
    }
}

void add_rows(const Level &level, const Hit *hits, int64_t size, int64_t stride, float *margins) {
    if (level.wide) {
        if (level.half) return add_rows_of<uint32_t, uint16_t>(level, hits, size, stride, margins);
        return add_rows_of<uint32_t, float>(level, hits, size, stride, margins);
    }
    if (level.half) return add_rows_of<uint16_t, uint16_t>(level, hits, size, stride, margins);
    return add_rows_of<uint16_t, float>(level, hits, size, stride, margins);
}

// The children are the lanes, so each margin is summed over the dimensions in order.
template <typename Value>
void add_dense_of(const Value *weight, int64_t dims, int64_t children, const float *dense, float *margins) {
    for (int64_t d = 0; d < dims; ++d, weight += children)
        for (int64_t c = 0; c < children; ++c) margins[c] += dense[d] * widen(weight[c]);
}

void add_dense(const Level &level, int64_t parent, const float *dense, float *margins) {
    const int64_t first = level.children_ptr[parent] * level.dims;
    const int64_t children = level.children_of(parent);
    if (level.half)
        add_dense_of(static_cast<const uint16_t *>(level.dense) + first, level.dims, children, dense, margins);
    else
        add_dense_of(static_cast<const float *>(level.dense) + first, level.dims, children, dense, margins);
}

inline float finite(float margin) {
    const float low = margin > -FLT_MAX ? margin : -FLT_MAX;  // also for NaN, from weights that overflow the sum
    return (low < FLT_MAX ? low : FLT_MAX) + 0.0f;
}

template <int Power>
inline float log_hinge(float margin) {
    const float gap = 1.0f - margin > 0.0f ? 1.0f - margin : 0.0f;
    float power = gap;
    for (int i = 1; i < Power; ++i) power *= gap;
    return -power;
}

inline float log_sigmoid(float margin) {
    const double x = margin;
    return static_cast<float>(x < 0 ? x - std::log1p(std::exp(x)) : -std::log1p(std::exp(-x)));
}

template <typename Function>
inline void apply(Function function, float above, int64_t size, float *margins, float *scores) {
    for (int64_t i = 0; i < size; ++i) {
        margins[i] = finite(margins[i]);
        scores[i] = (function(margins[i]) + above) + 0.0f;
    }
}

void apply_link(Link link, float above, int64_t size, float *margins, float *scores) {
    switch (link) {
        case Link::noop: return apply([](float m) { return m; }, above, size, margins, scores);
        case Link::hinge1: return apply(log_hinge<1>, above, size, margins, scores);
        case Link::hinge2: return apply(log_hinge<2>, above, size, margins, scores);
        case Link::hinge3: return apply(log_hinge<3>, above, size, margins, scores);
        case Link::hinge4: return apply(log_hinge<4>, above, size, margins, scores);
        case Link::sigmoid: return apply(log_sigmoid, above, size, margins, scores);
    }
}

int64_t at_least(const float *scores, int64_t size, float bar, int32_t *positions) {
    int64_t found = 0;
    for (int64_t i = 0; i < size; ++i) {
        positions[found] = static_cast<int32_t>(i);
        found += scores[i] >= bar;
    }
    return found;
}

}  // namespace

#define TREETOP_JOIN(a, b) a##b
#define TREETOP_NAME(isa) TREETOP_JOIN(search_kernels_, isa)
extern const SearchKernels TREETOP_NAME(TREETOP_ISA);
const SearchKernels TREETOP_NAME(TREETOP_ISA) = {find, add_rows, add_dense, apply_link, at_least};

}  // namespace treetop
