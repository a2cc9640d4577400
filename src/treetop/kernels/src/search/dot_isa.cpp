// Dot products of dense states and dense weights. Everything but the exported table has internal linkage.
//
// Each product has one vector of sums, whatever else is computed beside it: both loops give the same bits.
#include <algorithm>
#include <cstdint>
#include <cstring>

#include "search/dot_kernels.hpp"

namespace treetop {
namespace {

#if defined(TREETOP_ISA_avx512)
constexpr int64_t kLanes = 16, kTexts = 4, kRows = 4;
#elif defined(TREETOP_ISA_avx2)
constexpr int64_t kLanes = 8, kTexts = 4, kRows = 2;
#else
constexpr int64_t kLanes = 4, kTexts = 2, kRows = 2;
#endif
constexpr int64_t kAtOnce = 8;  // rows that one state meets together: their loads overlap

typedef float Vector __attribute__((vector_size(kLanes * sizeof(float))));

inline Vector load(const float *from) {
    Vector vector;
    std::memcpy(&vector, from, sizeof vector);
    return vector;
}

inline float sum(const Vector &vector) {
    float total = 0;
    for (int64_t lane = 0; lane < kLanes; ++lane) total += vector[lane];
    return total;
}

inline float rest(const float *a, const float *b, int64_t from, int64_t width) {
    float total = 0;
    for (int64_t i = from; i < width; ++i) total += a[i] * b[i];
    return total;
}

template <int64_t Texts, int64_t Count>
inline void tile(const float *const *state, const float *const *row, int64_t width, float *out, int64_t stride) {
    Vector sums[Texts][Count] = {};
    const int64_t whole = width - width % kLanes;
    for (int64_t i = 0; i < whole; i += kLanes)
        for (int64_t t = 0; t < Texts; ++t)
            for (int64_t r = 0; r < Count; ++r) sums[t][r] += load(state[t] + i) * load(row[r] + i);
    for (int64_t t = 0; t < Texts; ++t)
        for (int64_t r = 0; r < Count; ++r)
            out[t * stride + r] = sum(sums[t][r]) + rest(state[t], row[r], whole, width);
}

void of_rows(const float *state, const float *weight, const int32_t *row, int64_t rows, int64_t width, float *out) {
    const float *place[kAtOnce];
    int64_t r = 0;
    for (; r + kAtOnce <= rows; r += kAtOnce) {
        for (int64_t i = 0; i < kAtOnce; ++i) place[i] = weight + row[r + i] * width;
        tile<1, kAtOnce>(&state, place, width, out + r, kAtOnce);
    }
    for (; r < rows; ++r) {
        place[0] = weight + row[r] * width;
        tile<1, 1>(&state, place, width, out + r, 1);
    }
}

template <int64_t Texts>
void of_texts(const float *const *state, const float *weight, int64_t rows, int64_t width, float *out) {
    const float *place[kRows];
    int64_t r = 0;
    for (; r + kRows <= rows; r += kRows) {
        for (int64_t i = 0; i < kRows; ++i) place[i] = weight + (r + i) * width;
        tile<Texts, kRows>(state, place, width, out + r, rows);
    }
    for (; r < rows; ++r) {
        place[0] = weight + r * width;
        tile<Texts, 1>(state, place, width, out + r, rows);
    }
}

void of_block(const float *states, int64_t texts, const float *weight, int64_t rows, int64_t width, float *out) {
    const float *state[kTexts];
    int64_t t = 0;
    for (; t + kTexts <= texts; t += kTexts) {
        for (int64_t i = 0; i < kTexts; ++i) state[i] = states + (t + i) * width;
        of_texts<kTexts>(state, weight, rows, width, out + t * rows);
    }
    for (; t < texts; ++t) {
        state[0] = states + t * width;
        of_texts<1>(state, weight, rows, width, out + t * rows);
    }
}

}  // namespace

#define TREETOP_JOIN(a, b) a##b
#define TREETOP_NAME(isa) TREETOP_JOIN(dot_kernels_, isa)
extern const DotKernels TREETOP_NAME(TREETOP_ISA);
const DotKernels TREETOP_NAME(TREETOP_ISA) = {of_rows, of_block};

}  // namespace treetop
