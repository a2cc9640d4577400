// Beam search of one text: no blocks and no tables to fill; directories lead from the text's features to the rows.
#include <algorithm>

#include "search/best.hpp"
#include "search/online_kernels.hpp"
#include "search/tree_search.hpp"

namespace treetop {
namespace {

struct OnlineScratch {
    std::vector<Candidate> pool;
    std::vector<Candidate> beam;  // the position is the slot
    std::vector<const Directory *> directories;
    std::vector<int64_t> broad_from;
    std::vector<int64_t> children;
    std::vector<RowRange> ranges;
    std::vector<Hit> found, broad, narrow;
    std::vector<float> margins;
    std::vector<float> scores;
    std::vector<int32_t> positions;
};

void open_chunks(SearchLevel &level, bool sparse, OnlineScratch &s) {
    s.directories.clear();
    s.children.clear();
    s.broad_from.clear();
    for (const Candidate &node : s.beam) {
        if (sparse) s.directories.push_back(&level.directory(node.id));
        s.children.push_back(level.level().children_of(node.id));
        s.broad_from.push_back(broad_from(s.children.back()));
    }
}

// Margins of a parent's children: room for whole vectors.
int64_t stride_of(const Level &level) { return (level.max_children + kOverread - 1) / kOverread * kOverread; }

OnlineRoom room_for_hits(size_t features, OnlineScratch &s) {
    const size_t hits = s.beam.size() * features + 1;
    if (s.ranges.size() < features) s.ranges.resize(features);
    if (s.found.size() < hits)
        for (std::vector<Hit> *room : {&s.found, &s.broad, &s.narrow}) room->resize(hits);
    return {s.ranges.data(), s.found.data(), s.broad.data(), s.narrow.data()};
}

void score_beam(SearchLevel &search_level, const Query &query, OnlineScratch &s) {
    const Level &level = search_level.level();
    open_chunks(search_level, query.size > 0, s);
    const int64_t stride = stride_of(level);
    s.margins.resize(s.beam.size() * static_cast<size_t>(stride));
    for (size_t slot = 0; slot < s.beam.size(); ++slot)
        level.begin_margins(s.beam[slot].id, s.margins.data() + static_cast<int64_t>(slot) * stride);
    if (query.size > 0) {
        const Kept kept{s.directories.data(), s.broad_from.data(), s.children.data(),
                        static_cast<int64_t>(s.beam.size())};
        const OnlineRoom room = room_for_hits(static_cast<size_t>(query.size), s);
        online_kernels().add_sparse(level, query, kept, room, stride, s.margins.data());
    }
    for (size_t slot = 0; slot < s.beam.size(); ++slot) {
        float *margins = s.margins.data() + static_cast<int64_t>(slot) * stride;
        level.scale_margins(s.beam[slot].id, margins);
        if (level.dims > 0) search_kernels().add_dense(level, s.beam[slot].id, query.dense, margins);
    }
}

void pick_children(const Level &level, Link link, bool add_path, Mask open, OnlineScratch &s, Best &best) {
    const SearchKernels &kernels = search_kernels();
    s.scores.resize(static_cast<size_t>(stride_of(level)));
    s.positions.resize(s.scores.size());
    for (size_t slot = 0; slot < s.beam.size(); ++slot) {
        float *margins = s.margins.data() + static_cast<int64_t>(slot) * stride_of(level);
        const int64_t first = level.children_ptr[s.beam[slot].id], children = level.children_of(s.beam[slot].id);
        kernels.apply_link(link, add_path ? s.beam[slot].score() : 0.0f, children, margins, s.scores.data());
        offer_children({level, first, children, margins, s.scores.data()}, open, s.positions, best);
    }
}

}  // namespace

void search_one(const Levels &levels, const Query &query, const Settings &settings, const Allowed &allowed,
                int32_t *labels, float *scores) {
    static thread_local OnlineScratch s;
    s.beam.assign(1, make_candidate(0.0f, 0.0f, 0));
    for (size_t l = 0; l < levels.size(); ++l) {
        const Level &level = levels[l]->level();
        const int64_t keep = std::min(settings.keep(l), level.nodes);
        s.pool.resize(static_cast<size_t>(keep));
        Best best(s.pool.data(), keep);
        score_beam(*levels[l], query, s);
        pick_children(level, settings.link_at(l), settings.add_path(l), allowed.at(l), s, best);
        if (settings.last(l)) return write_labels(best, settings, labels, scores);
        s.beam.assign(best.begin(), best.end());
    }
}

}  // namespace treetop
