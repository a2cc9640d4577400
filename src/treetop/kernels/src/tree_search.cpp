#include "tree_search.hpp"

#include <cmath>
#include <limits>

#include "isa.hpp"

namespace treetop {

extern const SearchKernels search_kernels_generic;
#if defined(TREETOP_X86)
extern const SearchKernels search_kernels_avx2;
extern const SearchKernels search_kernels_avx512;
#endif

const SearchKernels &search_kernels() {
#if defined(TREETOP_X86)
    static const SearchKernels &best = chosen_isa() == Isa::avx512 ? search_kernels_avx512
                                       : chosen_isa() == Isa::avx2 ? search_kernels_avx2
                                                                 : search_kernels_generic;
    return best;
#else
    return search_kernels_generic;
#endif
}

const FeatureMap &SearchLevel::features() {
    std::call_once(features_once_, [this] { features_ = std::make_unique<FeatureMap>(level_); });
    return *features_;
}

const Postings &SearchLevel::postings() {
    std::call_once(postings_once_, [this] { postings_ = std::make_unique<Postings>(level_); });
    return *postings_;
}

void offer_children(const Level &level, int64_t first, int64_t children, const float *margins, const float *scores,
                    std::vector<int32_t> &positions, Best &best) {
    const int64_t found = search_kernels().at_least(scores, children, best.bar(), positions.data());
    for (int64_t i = 0; i < found; ++i) {
        const int32_t child = positions[i];
        best.offer(make_candidate(scores[child], margins[child], level.children[first + child]));
    }
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
