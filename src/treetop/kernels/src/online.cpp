// Beam search of one text: no blocks and no lookups to fill; the postings lead from the text's features to the rows.
#include <algorithm>

#include "best.hpp"
#include "tree_search.hpp"

namespace treetop {
namespace {

// The kept parents that fall into one group of 64.
struct Group {
    uint32_t id;
    uint64_t parents;
    int32_t first_slot;
};

struct OnlineScratch {
    std::vector<Candidate> pool;
    std::vector<Candidate> beam;  // sorted by node id; the position is the slot
    std::vector<Group> groups;
    std::vector<Hit> hits;
    std::vector<float> margins;
    std::vector<float> scores;
    std::vector<int32_t> positions;
};

void group_beam(OnlineScratch &s) {
    std::sort(s.beam.begin(), s.beam.end(), [](const Candidate &a, const Candidate &b) { return a.id < b.id; });
    s.groups.clear();
    for (size_t slot = 0; slot < s.beam.size(); ++slot) {
        const uint32_t node = static_cast<uint32_t>(s.beam[slot].id);
        if (s.groups.empty() || s.groups.back().id != node >> 6)
            s.groups.push_back({node >> 6, 0, static_cast<int32_t>(slot)});
        s.groups.back().parents |= uint64_t{1} << (node & 63);
    }
}

inline uint64_t below(uint64_t bits, int bit) { return bits & ((uint64_t{1} << bit) - 1); }

// Hits of one feature in the kept parents of one group.
void add_hits(const Level &level, const Postings &postings, const Postings::Feature &feature, const Posting &posting,
              const Group &group, float value, std::vector<Hit> &hits) {
    for (uint64_t both = posting.parents & group.parents; both != 0; both &= both - 1) {
        const int bit = __builtin_ctzll(both);
        const int64_t index = feature.first_row + posting.first_row + __builtin_popcountll(below(posting.parents, bit));
        const int32_t slot = group.first_slot + __builtin_popcountll(below(group.parents, bit));
        const int64_t parent = static_cast<int64_t>(group.id) * 64 + bit;
        hits.push_back({level.row_ptr[parent] + *postings.row(index), value, slot});
    }
}

void find_hits(const Level &level, const Postings &postings, const Query &query, OnlineScratch &s) {
    s.hits.clear();
    for (int64_t i = 0; i < query.size; ++i) {
        if (!postings.has(query.feature[i])) continue;
        const Posting *posting = postings.begin(query.feature[i]), *end = postings.end(query.feature[i]);
        for (const Group &group : s.groups) {
            posting = std::lower_bound(posting, end, group.id,
                                       [](const Posting &p, uint32_t id) { return p.group < id; });
            if (posting == end) break;
            if (posting->group == group.id)
                add_hits(level, postings, postings.feature(query.feature[i]), *posting, group, query.value[i], s.hits);
        }
    }
}

void score_beam(const Level &level, const Postings &postings, const Query &query, OnlineScratch &s) {
    group_beam(s);
    const int64_t stride = level.max_children;
    s.margins.resize(s.beam.size() * static_cast<size_t>(stride) + 1);
    for (size_t slot = 0; slot < s.beam.size(); ++slot) {
        const int32_t parent = s.beam[slot].id;
        std::copy_n(level.bias + level.children_ptr[parent], level.children_of(parent),
                    s.margins.data() + static_cast<int64_t>(slot) * stride);
    }
    find_hits(level, postings, query, s);
    search_kernels().add_rows(level, s.hits.data(), static_cast<int64_t>(s.hits.size()), stride, s.margins.data());
    if (level.dims == 0) return;
    for (size_t slot = 0; slot < s.beam.size(); ++slot)
        search_kernels().add_dense(level, s.beam[slot].id, query.dense,
                                   s.margins.data() + static_cast<int64_t>(slot) * stride);
}

void pick_children(const Level &level, Link link, bool add_path, OnlineScratch &s, Best &best) {
    const SearchKernels &kernels = search_kernels();
    s.scores.resize(static_cast<size_t>(level.max_children) + 1);
    s.positions.resize(s.scores.size());
    for (size_t slot = 0; slot < s.beam.size(); ++slot) {
        float *margins = s.margins.data() + static_cast<int64_t>(slot) * level.max_children;
        const int64_t first = level.children_ptr[s.beam[slot].id], children = level.children_of(s.beam[slot].id);
        kernels.apply_link(link, add_path ? s.beam[slot].score() : 0.0f, children, margins, s.scores.data());
        offer_children(level, first, children, margins, s.scores.data(), s.positions, best);
    }
}

}  // namespace

void search_one(const Levels &levels, const Query &query, const Settings &settings, int32_t *labels, float *scores) {
    static thread_local OnlineScratch s;
    s.beam.assign(1, make_candidate(0.0f, 0.0f, 0));
    for (size_t l = 0; l < levels.size(); ++l) {
        const Level &level = levels[l]->level();
        const int64_t keep = std::min(settings.keep(l), level.nodes);
        s.pool.resize(static_cast<size_t>(keep));
        Best best(s.pool.data(), keep);
        score_beam(level, levels[l]->postings(), query, s);
        pick_children(level, settings.link_at(l), settings.add_path(l), s, best);
        if (settings.last(l)) return write_labels(best, settings, labels, scores);
        s.beam.assign(best.begin(), best.end());
    }
}

}  // namespace treetop
