// Squared hinge: dual coordinate descent for all lanes of a group at once.
//
// Per node: min over α ≥ 0 of ½ Σᵢⱼ αᵢαⱼyᵢyⱼ xᵢ·xⱼ + Σᵢ αᵢ²/(4Cᵢ) − Σᵢ αᵢ, with w = Σᵢ αᵢyᵢxᵢ
// (Hsieh et al., A Dual Coordinate Descent Method for Large-scale Linear SVM, ICML 2008; LIBLINEAR's solver 1).
// A lane drops out of rows that cannot matter (shrinking) and out of the group when it has converged.
#pragma once

#include "train_order.hpp"
#include "train_row.hpp"

namespace treetop {
namespace TREETOP_ISA {

template <typename Lanes>
class HingeSolver {
   public:
    HingeSolver(const BlockView &block, const GroupView &group, const TrainSettings &settings)
        : block_(block), group_(group), settings_(settings), weights_(block, group, settings.bias),
          rows_(block, group), dice_(group.seed), positive_diagonal_(Lanes::all(0.5f / settings.c_positive)),
          largest_before_(Lanes::all(infinity)), running_((1u << group.lanes) - 1) {}

    void run(const std::atomic<bool> &stop) {
        for (int64_t row = 0; row < block_.rows; ++row) group_.live[row] = group_.member[row];
        while ((running_ | waiting_) != 0 && !stop.load(std::memory_order_relaxed)) {
            if (running_ == 0) look_at_all_rows();
            epoch();
            retire();
        }
        weights_.bias_weight.store(group_.bias_weight);
    }

   private:
    static constexpr float infinity = __builtin_inff();

    void epoch() {
        largest_ = Lanes::all(-infinity);
        smallest_ = Lanes::all(infinity);
        rows_.shuffle(dice_);
        for (int64_t i = 0; i < rows_.active;) {
            if (i + 2 < rows_.active) weights_.prefetch(rows_.order[i + 2], group_.dual);
            if (visit(rows_.order[i]))
                ++i;
            else
                rows_.drop(i);
        }
    }

    // One coordinate step per lane; false if no lane has any use for this row until all rows are looked at again.
    bool visit(int64_t row) {
        uint32_t lanes = group_.live[row] & running_;
        if (lanes == 0) return false;
        const auto positive = Lanes::mask(group_.positive[row]);
        const Lanes zero = Lanes::all(0), diagonal = diagonal_of(row, positive);
        float *dual = group_.dual + row * Lanes::width;
        const Lanes alpha = Lanes::load(dual);
        const Lanes score = weights_.dot(row);
        const Lanes margin = choose(positive, score, zero - score);
        // Features that only this row has would contribute α·alone to its margin; they need no weights meanwhile.
        const Lanes slope = diagonal + Lanes::all(block_.alone[row]);
        const Lanes gradient = multiply_add(alpha, slope, margin - Lanes::all(1));
        const auto above = greater(alpha, zero);
        const uint32_t hopeless = Lanes::bits(greater(gradient, largest_before_)) & ~Lanes::bits(above) & lanes;
        if (hopeless != 0) {
            lanes &= ~hopeless;
            shrunk_ |= hopeless;
            group_.live[row] = static_cast<LaneBits>(group_.live[row] & ~hopeless);
            if (lanes == 0) return false;
        }
        const auto live = Lanes::mask(lanes);
        const Lanes projected = choose(above, gradient, smaller(gradient, zero));
        largest_ = choose(live, larger(largest_, projected), largest_);
        smallest_ = choose(live, smaller(smallest_, projected), smallest_);
        const Lanes moved = larger(alpha - gradient / (Lanes::all(block_.square[row]) + diagonal), zero);
        const Lanes step = choose(live, moved - alpha, zero);
        if (Lanes::bits(greater(magnitude(step), zero)) != 0) {
            choose(live, moved, alpha).store(dual);
            weights_.add(row, choose(positive, step, zero - step));
        }
        return true;
    }

    // 1/(2C) of this row in every lane.
    Lanes diagonal_of(int64_t row, typename Lanes::Mask positive) const {
        const float cost = block_.negative_cost == nullptr ? 1.0f : block_.negative_cost[row];
        const Lanes negative = Lanes::all(0.5f / (settings_.c_negative * cost));
        if (group_.cost_slot == nullptr) return choose(positive, positive_diagonal_, negative);
        if (group_.cost_slot[row] < 0) return negative;
        const Lanes costs = Lanes::load(group_.positive_cost + group_.cost_slot[row] * Lanes::width);
        return choose(positive, positive_diagonal_ / costs, negative);
    }

    // Who has converged on all rows is done; who has converged on its live rows waits until everybody left has, so
    // that the costly look at all rows is shared.
    void retire() {
        const uint32_t open = Lanes::bits(greater(largest_ - smallest_, Lanes::all(settings_.eps)));
        const uint32_t converged = running_ & ~open;
        waiting_ |= converged & shrunk_;
        running_ &= open;
        for (int lane = 0; lane < group_.lanes; ++lane)
            if (((running_ | converged) >> lane & 1) && ++epochs_[lane] >= settings_.max_iter) expire(1u << lane);
        const auto settled = greater(largest_, Lanes::all(0));
        largest_before_ = choose(settled, largest_, Lanes::all(infinity));
    }

    void expire(uint32_t lane) {
        running_ &= ~lane;
        waiting_ &= ~lane;
    }

    void look_at_all_rows() {
        for (int64_t row = 0; row < block_.rows; ++row) group_.live[row] = group_.member[row];
        rows_.restore();
        largest_before_ = Lanes::all(infinity);
        running_ = waiting_;
        shrunk_ &= ~waiting_;
        waiting_ = 0;
    }

    const BlockView &block_;
    const GroupView &group_;
    const TrainSettings &settings_;
    RowTimesWeights<Lanes> weights_;
    ActiveRows rows_;
    Dice dice_;
    Lanes positive_diagonal_;
    Lanes largest_before_;  // the largest projected gradient of the previous epoch: rows above it are shrunk
    Lanes largest_, smallest_;
    uint32_t running_;
    uint32_t waiting_ = 0;
    uint32_t shrunk_ = 0;
    int epochs_[16] = {};
};

}  // namespace TREETOP_ISA
}  // namespace treetop
