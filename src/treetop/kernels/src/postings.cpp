#include "postings.hpp"

namespace treetop {

Postings::Postings(const Level &level) : features_(static_cast<size_t>(level.features) + 1, PostedFeature{0, 0}) {
    std::vector<int32_t> parents;  // of each row
    sort_rows(level, parents);
    group_parents(parents);
}

// Counting sort by feature; rows come by parent, so those of one feature stay sorted by parent.
void Postings::sort_rows(const Level &level, std::vector<int32_t> &parents) {
    const int64_t rows = level.rows();
    for (int64_t row = 0; row < rows; ++row) ++features_[level.row_feature[row] + 1].first_row;
    for (size_t f = 1; f < features_.size(); ++f) features_[f].first_row += features_[f - 1].first_row;
    std::vector<int64_t> next(features_.size());
    for (size_t f = 0; f < features_.size(); ++f) next[f] = features_[f].first_row;
    rows_.resize(static_cast<size_t>(rows));
    parents.resize(static_cast<size_t>(rows));
    for (int64_t parent = 0; parent < level.parents; ++parent)
        for (int64_t row = level.row_ptr[parent]; row < level.row_ptr[parent + 1]; ++row) {
            const int64_t at = next[level.row_feature[row]]++;
            rows_[at] = RowRef::narrow(level.entry_ptr[row], level.entry_ptr[row + 1] - level.entry_ptr[row]);
            parents[at] = static_cast<int32_t>(parent);
        }
}

void Postings::group_parents(const std::vector<int32_t> &parents) {
    for (size_t f = 0; f + 1 < features_.size(); ++f) {
        features_[f].first_posting = static_cast<int64_t>(postings_.size());
        const int64_t first = features_[f].first_row, last = features_[f + 1].first_row;
        for (int64_t at = first; at < last; ++at) {
            const uint32_t group = static_cast<uint32_t>(parents[at]) >> 6;
            if (at == first || postings_.back().group != group)
                postings_.push_back({0, group, static_cast<uint32_t>(at - first)});
            postings_.back().parents |= uint64_t{1} << (parents[at] & 63);
        }
    }
    features_.back().first_posting = static_cast<int64_t>(postings_.size());
    postings_.shrink_to_fit();
}

}  // namespace treetop
