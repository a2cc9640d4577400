// A block of texts that is searched together, with its features numbered for the tables of the chunks.
#pragma once

#include <algorithm>
#include <cstdint>

#include "search/feature_set.hpp"
#include "search/level.hpp"
#include "search/numbering.hpp"

namespace treetop {

// Texts to score: a sparse block, a dense block, or both.
struct Texts {
    int64_t count = 0;
    const int64_t *start = nullptr;  // null: no sparse block
    const int32_t *feature = nullptr;
    const float *value = nullptr;
    int64_t columns = 0;           // of the sparse block
    const float *dense = nullptr;  // null: no dense block
    int64_t dims = 0;
};

class TextBlock {
public:
    void use(const Texts &texts, int64_t first, int64_t last) {
        if (sparse()) present_.clear(feature(0), features());
        texts_ = texts;
        first_ = first;
        count_ = last - first;
        if (!sparse()) return;
        numbering_.use(feature(0), features(), texts.columns);
        present_.resize(texts.columns);
        present_.add(feature(0), features());
    }

    int64_t count() const { return count_; }
    int64_t first() const { return first_; }
    bool sparse() const { return texts_.start != nullptr; }

    // The features of a text as they came; of all texts one after the other.
    const int32_t *feature(int64_t text) const { return texts_.feature + texts_.start[first_ + text]; }
    int64_t features(int64_t text) const { return texts_.start[first_ + text + 1] - texts_.start[first_ + text]; }
    int64_t features() const { return texts_.start[first_ + count_] - texts_.start[first_]; }

    // A text with its features as numbers.
    Query query(int64_t text) const {
        const int64_t at = first_ + text;
        const float *dense = texts_.dense == nullptr ? nullptr : texts_.dense + at * texts_.dims;
        if (!sparse()) return {nullptr, nullptr, 0, dense};
        const int64_t begin = texts_.start[at];
        const int32_t *numbers = numbering_.translated() + (begin - texts_.start[first_]);
        return {numbers, texts_.value + begin, texts_.start[at + 1] - begin, dense};
    }

    int64_t longest() const {
        int64_t longest = 0;
        for (int64_t i = 0; i < count_; ++i) longest = std::max(longest, query(i).size);
        return longest;
    }

    const Numbering &numbering() const { return numbering_; }
    const FeatureSet &present() const { return present_; }

private:
    Texts texts_;
    int64_t first_ = 0;
    int64_t count_ = 0;
    Numbering numbering_;
    FeatureSet present_;
};

}  // namespace treetop
