// Where a feature has rows in a level: the index behind one-at-a-time search, where preparing a chunk would not pay.
//
// Parents come in groups of 64. A posting says in which parents of a group the feature has a row, as a mask, so one
// look serves all kept parents of the group; siblings are neighbours, so a beam falls into few groups.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "level.hpp"
#include "search_kernels.hpp"

namespace treetop {

struct Posting {
    uint64_t parents;  // bit b: parent 64 * group + b has a row
    uint32_t group;
    uint32_t first_row;  // of this group among the rows of the feature
};

struct PostedFeature {
    int64_t first_posting;
    int64_t first_row;
};

class Postings {
public:
    explicit Postings(const Level &level);

    const PostedFeature *features() const { return features_.data(); }
    const Posting *postings() const { return postings_.data(); }
    const RowRef *rows() const { return rows_.data(); }

private:
    void sort_rows(const Level &level, std::vector<int32_t> &parents);
    void group_parents(const std::vector<int32_t> &parents);

    std::vector<PostedFeature> features_;  // one more than there are features
    std::vector<Posting> postings_;        // by feature, then group
    std::vector<RowRef> rows_;             // by feature, then parent
};

}  // namespace treetop
