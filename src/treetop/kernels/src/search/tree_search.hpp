// Beam search down the tree, and the scores of one level: what searcher.cpp offers to Python.
#pragma once

#include <cstdint>
#include <vector>

#include "search/best.hpp"
#include "search/level.hpp"
#include "search/link.hpp"
#include "search/scoring.hpp"
#include "search/search_level.hpp"

namespace treetop {

struct Settings {
    std::vector<int64_t> beams;  // nodes kept after each level but the last
    int64_t k = 0;
    Link link = Link::hinge3;
    Link leaf_link = Link::hinge3;
    bool multiply = true;  // labels: score of the whole path, or of the label alone

    bool last(size_t level) const { return level == beams.size(); }
    int64_t keep(size_t level) const { return last(level) ? k : beams[level]; }
    Link link_at(size_t level) const { return last(level) ? leaf_link : link; }
    // Margins do not add up to anything, so a noop level ranks by its own; other inner levels rank by the whole path.
    bool add_path(size_t level) const { return last(level) ? multiply : link != Link::noop; }
    // Whether a child's score is at most its parent's.
    bool prunes(size_t level) const { return level > 0 && add_path(level) && link_at(level) != Link::noop; }
};

// Of each node of a level, whether the search may look at it; null: at all of them.
using Mask = const uint8_t *;

// A mask per level: a node is open if an allowed label is below it, so that no beam is lost to the others. Empty: all.
struct Allowed {
    std::vector<Mask> levels;

    Mask at(size_t level) const { return levels.empty() ? nullptr : levels[level]; }
};

// Offers the children of one parent that have a chance. Two functions, because a free search must not pay for masks.
void offer_all(const Scored &scored, std::vector<int32_t> &positions, Best &best);
void offer_open(const Scored &scored, Mask open, std::vector<int32_t> &positions, Best &best);

inline void offer_children(const Scored &scored, Mask open, std::vector<int32_t> &positions, Best &best) {
    if (open == nullptr) offer_all(scored, positions, best);
    else offer_open(scored, open, positions, best);
}

// Best first; -1 and the lowest score where there are fewer than k.
void write_labels(Best &best, const Settings &settings, int32_t *labels, float *scores);

// Both write k labels and scores per text, the same bits.
void search_batch(const Levels &levels, const Texts &texts, const Settings &settings, const Allowed &allowed,
                  int threads, int32_t *labels, float *scores);
void search_one(const Levels &levels, const Query &query, const Settings &settings, const Allowed &allowed,
                int32_t *labels, float *scores);

// Scores of the children of each text's shortlisted parents. A null shortlist means the root.
struct Shortlist {
    const int64_t *start = nullptr;
    const int32_t *parent = nullptr;
    const float *score = nullptr;  // log score, or margin, of the path down to the parent
};

struct NodeScores {
    std::vector<int64_t> start;
    std::vector<int32_t> node;  // sorted within a text
    std::vector<float> score;
};

// keep = 0: all open children; otherwise the best `keep` of each text.
NodeScores score_level(SearchLevel &level, const Texts &texts, const Shortlist &shortlist, Mask open, Link link,
                       bool add_path, int64_t keep, int threads);

}  // namespace treetop
