// What the training solver is given: plain structs of pointers.
//
// They cross the border to files compiled for other instruction sets, so nothing here may bring code along: an inline
// function compiled twice is merged by the linker, and the merged copy may hold instructions this processor lacks.
#pragma once

#include <atomic>
#include <cstdint>

namespace treetop {

using LaneBits = uint16_t;  // bit l belongs to lane l: one of up to 16 nodes that are solved together
constexpr int most_lanes = 16;

enum class Loss { squared_hinge, logistic };

struct TrainSettings {
    Loss loss;
    float c_positive;
    float c_negative;
    float bias;
    float eps;
    int max_iter;
    float threshold;
    int64_t max_weights;
    uint64_t seed;
};

// The texts of one parent, with features renumbered to what these texts share.
struct BlockView {
    int64_t rows;
    const int64_t *start;         // entries of row r: start[r] .. start[r + 1], a multiple of four (see `features`)
    const uint16_t *narrow;       // renumbered feature of an entry, if 16 bits suffice; else null
    const uint32_t *wide;         // the same in 32 bits, or null
    const float *value;           // of an entry
    const float *square;          // |x|² of the row, with bias and dense block
    const float *alone;           // the part of |x|² in features that no other row has; these have no entries above
    const float *negative_cost;   // of the row where it is negative; null: all 1
    const int32_t *text;          // row → text, for the dense block
    const float *dense;           // texts × dims, or null
    int64_t dims;
    int64_t features;             // renumbered features; the last one is none: rows are filled up with zeros of it
};

// The lanes, seen from the solver. A lane that has finished its node may be given another one.
struct LanesView {
    int width;                    // 4, 8 or 16 lanes
    uint64_t seed;                // of the order of rows
    const LaneBits *positive;     // per row: lanes in which this text is positive
    const LaneBits *member;       // per row: lanes in which it takes part
    const int32_t *cost_slot;     // per row: where its costs as a positive are, −1: none; null: all costs are 1
    const float *positive_cost;   // slots × width
    float *dual;                  // rows × width: the dual variable α of each row (the logistic solver: its log-odds)
    float *weight;                // features × width
    float *dense_weight;          // dims × width
    float *bias_weight;           // width
    LaneBits *live;               // scratch, per row
    int32_t *order;               // scratch, per row
    // Takes the results of finished lanes, gives free lanes new nodes; returns the lanes that have a new node.
    uint32_t (*exchange)(void *owner, uint32_t finished);
    void *owner;
};

using Solve = void (*)(const BlockView &, const LanesView &, const TrainSettings &, const std::atomic<bool> &stop);
// large[f] = lanes whose weight of feature f is at least `threshold` in magnitude.
using FindLarge = void (*)(const float *weight, int64_t features, int width, float threshold, LaneBits *large);

struct TrainKernel {
    Solve solve;
    FindLarge find_large;
};

namespace generic {
extern const TrainKernel train_kernel;
}
namespace avx2 {
extern const TrainKernel train_kernel;
}
namespace avx512 {
extern const TrainKernel train_kernel;
}

}  // namespace treetop
