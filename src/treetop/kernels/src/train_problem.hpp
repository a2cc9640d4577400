// What the training solver is given: plain structs of pointers.
//
// They cross the border to files compiled for other instruction sets, so nothing here may bring code along: an inline
// function compiled twice is merged by the linker, and the merged copy may hold instructions this processor lacks.
#pragma once

#include <atomic>
#include <cstdint>

namespace treetop {

using LaneBits = uint16_t;  // bit l belongs to lane l: one of up to 16 nodes that are solved together

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
    const int64_t *start;   // entries of row r: start[r] .. start[r + 1]
    const uint32_t *local;  // renumbered feature of an entry
    const float *value;
    const float *square;    // |x|² of the row, with bias and dense block
    const float *alone;     // the part of |x|² in features that no other row has; these have no entries above
    const float *negative_cost;  // where the text is negative; null: all 1
    const int32_t *text;    // row → text, for the dense block
    const float *dense;     // texts × dims, or null
    int64_t dims;
    int64_t features;       // renumbered features
};

// Up to `width` nodes of that parent. Arrays "per row" have one element (or `width` floats) per row of the block.
struct GroupView {
    int width;                       // 4, 8 or 16
    int lanes;                       // nodes, at most width
    uint64_t seed;
    const LaneBits *positive;        // per row: lanes in which this text is positive
    const LaneBits *member;          // per row: lanes in which it takes part
    const int32_t *cost_slot;        // per row, or null: all costs of positives are 1; −1: no positive lane
    const float *positive_cost;      // slots × width
    // Results and scratch
    float *dual;                     // rows × width: α (squared hinge) or its log-odds (logistic), signed later
    float *weight;                   // features × width
    float *dense_weight;             // dims × width
    float *bias_weight;              // width
    LaneBits *live;                  // per row
    int32_t *order;                  // per row
};

using Solve = void (*)(const BlockView &, const GroupView &, const TrainSettings &, const std::atomic<bool> &stop);
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
