// Where a feature has rows in a level: the index behind one-at-a-time search, where filling a lookup would not pay.
//
// Parents come in groups of 64. A posting says in which parents of a group the feature has a row, as a mask, so one
// look serves all kept parents of the group; siblings are neighbours, so a beam falls into few groups.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "level.hpp"

namespace treetop {

struct Posting {
    uint64_t parents;  // bit b: parent 64 * group + b has a row
    uint32_t group;
    uint32_t first_row;  // of this group among the rows of the feature
};

class Postings {
public:
    explicit Postings(const Level &level);

    struct Feature {
        int64_t first_posting;
        int64_t first_row;
    };

    bool has(int32_t feature) const { return static_cast<uint32_t>(feature) + 1 < features_.size(); }
    const Feature &feature(int32_t feature) const { return features_[feature]; }
    const Posting *begin(int32_t feature) const { return postings_.data() + features_[feature].first_posting; }
    const Posting *end(int32_t feature) const { return postings_.data() + features_[feature + 1].first_posting; }
    // Row within its chunk; `index` counts the rows of the whole level in the order (feature, parent).
    const uint32_t *row(int64_t index) const { return rows_.data() + index; }

private:
    std::vector<Feature> features_;   // one more than there are
    std::vector<Posting> postings_;   // by feature, then group
    std::vector<uint32_t> rows_;      // by feature, then parent
};

}  // namespace treetop
