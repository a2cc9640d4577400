#include "search/tree_search.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "common/isa.hpp"
#include "search/online_kernels.hpp"

namespace treetop {

extern const SearchKernels search_kernels_generic;
extern const OnlineKernels online_kernels_generic;
#if defined(TREETOP_X86)
extern const SearchKernels search_kernels_avx2, search_kernels_avx512;
extern const OnlineKernels online_kernels_avx2, online_kernels_avx512;
#else
static const SearchKernels &search_kernels_avx2 = search_kernels_generic;
static const SearchKernels &search_kernels_avx512 = search_kernels_generic;
static const OnlineKernels &online_kernels_avx2 = online_kernels_generic;
static const OnlineKernels &online_kernels_avx512 = online_kernels_generic;
#endif

namespace {

template <typename Kernels>
const Kernels &choose(const Kernels &generic, const Kernels &avx2, const Kernels &avx512) {
    return chosen_isa() == Isa::avx512 ? avx512 : chosen_isa() == Isa::avx2 ? avx2 : generic;
}

inline void offer_some(const Scored &scored, const int32_t *positions, int64_t size, Best &best) {
    const int32_t *nodes = scored.level.children + scored.first;
    for (int64_t i = 0; i < size; ++i) {
        const int32_t child = positions[i];
        best.offer(make_candidate(scored.scores[child], scored.margins[child], nodes[child]));
    }
}

}  // namespace

const SearchKernels &search_kernels() {
    static const auto &kernels = choose(search_kernels_generic, search_kernels_avx2, search_kernels_avx512);
    return kernels;
}

const OnlineKernels &online_kernels() {
    static const auto &kernels = choose(online_kernels_generic, online_kernels_avx2, online_kernels_avx512);
    return kernels;
}

void offer_all(const Scored &scored, std::vector<int32_t> &positions, Best &best) {
    const int64_t found = search_kernels().at_least(scored.scores, scored.children, best.bar(), positions.data());
    offer_some(scored, positions.data(), found, best);
}

void offer_open(const Scored &scored, Mask open, std::vector<int32_t> &positions, Best &best) {
    const int64_t found = search_kernels().at_least(scored.scores, scored.children, best.bar(), positions.data());
    const int32_t *nodes = scored.level.children + scored.first;
    const auto closed = [&](int32_t child) { return !open[nodes[child]]; };
    int32_t *last = std::remove_if(positions.data(), positions.data() + found, closed);
    offer_some(scored, positions.data(), last - positions.data(), best);
}

void write_labels(Best &best, const Settings &settings, int32_t *labels, float *scores) {
    best.sort();
    const bool logs = settings.leaf_link != Link::noop;
    int64_t rank = 0;
    for (const Candidate &label : best) {
        labels[rank] = label.id;
        scores[rank++] = logs ? static_cast<float>(std::exp(static_cast<double>(label.score()))) : label.score();
    }
    for (; rank < settings.k; ++rank) {
        labels[rank] = -1;
        scores[rank] = logs ? 0.0f : -std::numeric_limits<float>::infinity();
    }
}

}  // namespace treetop
