// Squared hinge: dual coordinate descent for all lanes at once.
//
// Per node: min over α ≥ 0 of ½ Σᵢⱼ αᵢαⱼyᵢyⱼ xᵢ·xⱼ + Σᵢ αᵢ²/(4Cᵢ) − Σᵢ αᵢ, with w = Σᵢ αᵢyᵢxᵢ
// (Hsieh et al., A Dual Coordinate Descent Method for Large-scale Linear SVM, ICML 2008; LIBLINEAR's solver 1).
// A lane leaves rows that cannot matter to it (shrinking); when it has converged, the next node takes the lane.
#pragma once

#include "train/row_order.hpp"
#include "train/row_times_weights.hpp"

namespace treetop {
namespace TREETOP_ISA {

template <typename Lanes, typename Id>
class HingeSolver {
   public:
    HingeSolver(const BlockView &block, const LanesView &lanes, const TrainSettings &settings)
        : block_(block), lanes_(lanes), settings_(settings), weights_(block, lanes, settings.bias),
          rows_(block, lanes), dice_(lanes.seed), positive_diagonal_(Lanes::all(0.5f / settings.c_positive)),
          negative_diagonal_(Lanes::all(0.5f / settings.c_negative)),
          largest_before_(Lanes::all(infinity)) {}

    void run(const std::atomic<bool> &stop) {
        exchange(0);
        while ((running_ | waiting_) != 0 && !stop.load(std::memory_order_relaxed)) {
            if (running_ == 0) look_at_all_rows(waiting_);
            epoch();
            if (const uint32_t finished = retire()) exchange(finished);
        }
    }

   private:
    static constexpr float infinity = __builtin_inff();

    void exchange(uint32_t finished) {
        weights_.bias_weight.store(lanes_.bias_weight);
        const uint32_t fresh = lanes_.exchange(lanes_.owner, finished);
        weights_.bias_weight = Lanes::load(lanes_.bias_weight);
        if (fresh == 0) return;
        for (int lane = 0; lane < Lanes::width; ++lane)
            if (fresh >> lane & 1) epochs_[lane] = 0;
        look_at_all_rows(fresh | waiting_);
    }

    void epoch() {
        largest_ = Lanes::all(-infinity);
        smallest_ = Lanes::all(infinity);
        rows_.shuffle(dice_);
        for (int64_t i = 0; i < rows_.active;) {
            if (i + 2 < rows_.active) weights_.prefetch(rows_.order[i + 2], lanes_.dual);
            if (visit(rows_.order[i]))
                ++i;
            else
                rows_.drop(i);
        }
    }

    // One coordinate step per lane; false if no lane has any use for this row until all rows are looked at again.
    bool visit(int64_t row) {
        uint32_t lanes = lanes_.live[row] & running_;
        if (lanes == 0) return false;
        const auto positive = Lanes::mask(lanes_.positive[row]);
        const Lanes zero = Lanes::all(0), diagonal = diagonal_of(row, positive);
        float *dual = lanes_.dual + row * Lanes::width;
        const Lanes alpha = Lanes::load(dual);
        // Divided before the score is known: afterwards everything waits for it.
        const Lanes inverse = Lanes::all(1) / (Lanes::all(block_.square[row]) + diagonal);
        const Lanes score = weights_.dot(row, lanes);
        const Lanes margin = choose(positive, score, zero - score);
        // Features that only this row has would contribute α·alone to its margin; they need no weights meanwhile.
        const Lanes slope = diagonal + Lanes::all(block_.alone[row]);
        const Lanes gradient = multiply_add(alpha, slope, margin - Lanes::all(1));
        const auto above = greater(alpha, zero);
        const uint32_t hopeless = Lanes::bits(greater(gradient, largest_before_)) & ~Lanes::bits(above) & lanes;
        if (hopeless != 0) {
            lanes &= ~hopeless;
            shrunk_ |= hopeless;
            lanes_.live[row] = static_cast<LaneBits>(lanes_.live[row] & ~hopeless);
            if (lanes == 0) return false;
        }
        const auto live = Lanes::mask(lanes);
        const Lanes projected = choose(above, gradient, smaller(gradient, zero));
        largest_ = choose(live, larger(largest_, projected), largest_);
        smallest_ = choose(live, smaller(smallest_, projected), smallest_);
        const Lanes target = larger(alpha - gradient * inverse, zero);
        const Lanes step = choose(live, target - alpha, zero);
        if (const uint32_t moved = Lanes::bits(greater(magnitude(step), zero))) {
            choose(live, target, alpha).store(dual);
            weights_.add(row, choose(positive, step, zero - step), moved);
        }
        return true;
    }

    // 1/(2C) of this row in every lane.
    Lanes diagonal_of(int64_t row, typename Lanes::Mask positive) const {
        Lanes negative = negative_diagonal_;
        if (block_.negative_cost != nullptr) negative = negative / Lanes::all(block_.negative_cost[row]);
        if (lanes_.cost_slot == nullptr) return choose(positive, positive_diagonal_, negative);
        if (lanes_.cost_slot[row] < 0) return negative;
        const float *costs = lanes_.positive_cost + static_cast<int64_t>(lanes_.cost_slot[row]) * Lanes::width;
        return choose(positive, positive_diagonal_ / Lanes::load(costs), negative);
    }

    // The lanes that are done. One that has converged on its live rows only waits until somebody needs all rows, or
    // until all are waiting: looking at all rows then serves everybody.
    uint32_t retire() {
        const uint32_t open = Lanes::bits(greater(largest_ - smallest_, Lanes::all(settings_.eps)));
        const uint32_t converged = running_ & ~open;
        uint32_t finished = converged & ~shrunk_;
        for (int lane = 0; lane < Lanes::width; ++lane)
            if ((running_ >> lane & 1) && ++epochs_[lane] >= settings_.max_iter) finished |= 1u << lane;
        waiting_ |= converged & ~finished;
        running_ &= ~(converged | finished);
        largest_before_ = choose(greater(largest_, Lanes::all(0)), largest_, Lanes::all(infinity));
        return finished;
    }

    void look_at_all_rows(uint32_t who) {
        for (int64_t row = 0; row < block_.rows; ++row)
            lanes_.live[row] = static_cast<LaneBits>((lanes_.live[row] & ~who) | (lanes_.member[row] & who));
        rows_.restore();
        largest_before_ = choose(Lanes::mask(who), Lanes::all(infinity), largest_before_);
        shrunk_ &= ~who;
        waiting_ &= ~who;
        running_ |= who;
    }

    const BlockView &block_;
    const LanesView &lanes_;
    const TrainSettings &settings_;
    RowTimesWeights<Lanes, Id> weights_;
    ActiveRows rows_;
    Dice dice_;
    Lanes positive_diagonal_, negative_diagonal_;
    Lanes largest_before_;  // the largest projected gradient of the previous epoch: rows above it are shrunk
    Lanes largest_, smallest_;
    uint32_t running_ = 0;
    uint32_t waiting_ = 0;
    uint32_t shrunk_ = 0;
    int epochs_[most_lanes] = {};
};

}  // namespace TREETOP_ISA
}  // namespace treetop
