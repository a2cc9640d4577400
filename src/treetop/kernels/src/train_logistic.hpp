// Logistic loss: dual coordinate descent for all lanes of a group at once.
//
// Per node: min over 0 < α < C of ½ Σᵢⱼ αᵢαⱼyᵢyⱼ xᵢ·xⱼ + Σᵢ αᵢ log αᵢ + (Cᵢ−αᵢ) log(Cᵢ−αᵢ), with w = Σᵢ αᵢyᵢxᵢ
// (Yu, Huang, Lin, Dual coordinate descent methods for logistic regression and maximum entropy models, 2011).
// We keep the log-odds u of α/C instead of α: near 0 and near C it loses no digits, and the optimality condition is
// simply u + y·w·x = 0. One step solves u + y·w·x + |x|²·(C·σ(u) − α) = 0, which increases in u.
#pragma once

#include "train_order.hpp"
#include "train_row.hpp"

namespace treetop {
namespace TREETOP_ISA {

// e^x to float precision; branch-free so that a loop over lanes becomes vector code.
inline float exponential(float x) {
    x = x < -87.0f ? -87.0f : x > 87.0f ? 87.0f : x;
    const float scaled = x * 1.44269504f;
    const int32_t power = static_cast<int32_t>(scaled + (scaled < 0 ? -0.5f : 0.5f));
    const float n = static_cast<float>(power);
    const float r = (x - n * 0.693359375f) + n * 2.12194440e-4f;
    float p = 1.9875691500e-4f;
    p = p * r + 1.3981999507e-3f;
    p = p * r + 8.3334519073e-3f;
    p = p * r + 4.1665795894e-2f;
    p = p * r + 1.6666665459e-1f;
    p = p * r + 5.0000001201e-1f;
    p = p * r * r + r + 1.0f;
    const int32_t bits = (power + 127) << 23;
    float factor;
    __builtin_memcpy(&factor, &bits, sizeof factor);
    return p * factor;
}

inline float sigmoid(float u) { return 1.0f / (1.0f + exponential(-u)); }

template <typename Lanes>
class LogisticSolver {
    static constexpr int width = Lanes::width;

   public:
    LogisticSolver(const BlockView &block, const GroupView &group, const TrainSettings &settings)
        : block_(block), group_(group), settings_(settings), weights_(block, group, settings.bias),
          rows_(block, group), dice_(group.seed), running_((1u << group.lanes) - 1) {}

    void run(const std::atomic<bool> &stop) {
        for (int64_t i = 0; i < block_.rows * width; ++i) group_.dual[i] = -infinity;
        for (int iter = 0; iter < settings_.max_iter && running_ != 0; ++iter) {
            if (stop.load(std::memory_order_relaxed)) break;
            epoch();
        }
        for (int64_t row = 0; row < block_.rows; ++row) log_odds_to_alpha(row);
        weights_.bias_weight.store(group_.bias_weight);
    }

   private:
    static constexpr float infinity = __builtin_inff();

    void epoch() {
        for (float &v : violation_) v = 0;
        rows_.shuffle(dice_);
        for (int64_t i = 0; i < rows_.active; ++i) {
            if (i + 2 < rows_.active) weights_.prefetch(rows_.order[i + 2], group_.dual);
            visit(rows_.order[i]);
        }
        for (int lane = 0; lane < group_.lanes; ++lane)
            if (violation_[lane] < settings_.eps) running_ &= ~(1u << lane);
    }

    void visit(int64_t row) {
        const uint32_t lanes = group_.member[row] & running_;
        if (lanes == 0) return;
        float *log_odds = group_.dual + row * width;
        float limit[width], alpha[width], margin[width], next[width], step[width];
        limits(row, limit);
        weights_.dot(row).store(margin);
        const uint32_t positive = group_.positive[row];
        for (int l = 0; l < width; ++l) {
            alpha[l] = limit[l] * sigmoid(log_odds[l]);
            margin[l] = ((positive >> l & 1) ? margin[l] : -margin[l]) + alpha[l] * block_.alone[row];
        }
        if (!note_violations(lanes, log_odds, margin)) return;
        solve_for_log_odds(block_.square[row], limit, alpha, margin, log_odds, next);
        for (int l = 0; l < width; ++l) {
            const bool live = lanes >> l & 1;
            step[l] = live ? limit[l] * sigmoid(next[l]) - alpha[l] : 0.0f;
            log_odds[l] = live ? next[l] : log_odds[l];
            step[l] = (positive >> l & 1) ? step[l] : -step[l];
        }
        weights_.add(row, Lanes::load(step));
    }

    // C of this row in every lane.
    void limits(int64_t row, float *limit) const {
        const float negative = settings_.c_negative * (block_.negative_cost ? block_.negative_cost[row] : 1.0f);
        const float *costs = nullptr;
        if (group_.cost_slot != nullptr && group_.cost_slot[row] >= 0)
            costs = group_.positive_cost + group_.cost_slot[row] * width;
        for (int l = 0; l < width; ++l) {
            const float positive = settings_.c_positive * (costs ? costs[l] : 1.0f);
            limit[l] = (group_.positive[row] >> l & 1) ? positive : negative;
        }
    }

    // False if no lane is far enough from its optimum to be worth a step.
    bool note_violations(uint32_t lanes, const float *log_odds, const float *margin) {
        bool worth = false;
        for (int l = 0; l < width; ++l) {
            const float gap = log_odds[l] + margin[l];
            const float size = (lanes >> l & 1) ? (gap < 0 ? -gap : gap) : 0.0f;
            violation_[l] = size > violation_[l] ? size : violation_[l];
            worth |= size > 0.01f * settings_.eps;
        }
        return worth;
    }

    // Newton's method, kept inside a bracket that shrinks around the root: σ is between 0 and 1, so the root lies in
    // [top − |x|²·C, top].
    static void solve_for_log_odds(float square, const float *limit, const float *alpha, const float *margin,
                                   const float *start, float *u) {
        float low[width], high[width];
        for (int l = 0; l < width; ++l) {
            high[l] = square * alpha[l] - margin[l];
            low[l] = high[l] - square * limit[l];
            u[l] = start[l] < low[l] ? 0.5f * (low[l] + high[l]) : start[l] > high[l] ? high[l] : start[l];
        }
        for (int iteration = 0; iteration < 40; ++iteration) {
            float worst = 0;
            for (int l = 0; l < width; ++l) {
                const float s = sigmoid(u[l]);
                const float value = u[l] - high_of(square, alpha[l], margin[l]) + square * limit[l] * s;
                low[l] = value < 0 ? u[l] : low[l];
                high[l] = value > 0 ? u[l] : high[l];
                const float newton = u[l] - value / (1.0f + square * limit[l] * s * (1.0f - s));
                const float middle = 0.5f * (low[l] + high[l]);
                const float next = newton >= low[l] && newton <= high[l] ? newton : middle;
                const float moved = next > u[l] ? next - u[l] : u[l] - next;
                worst = moved > worst ? moved : worst;
                u[l] = next;
            }
            if (worst < 1e-5f) break;
        }
    }
    static float high_of(float square, float alpha, float margin) { return square * alpha - margin; }

    void log_odds_to_alpha(int64_t row) {
        float limit[width];
        limits(row, limit);
        float *dual = group_.dual + row * width;
        for (int l = 0; l < width; ++l) dual[l] = dual[l] == -infinity ? 0.0f : limit[l] * sigmoid(dual[l]);
    }

    const BlockView &block_;
    const GroupView &group_;
    const TrainSettings &settings_;
    RowTimesWeights<Lanes> weights_;
    ActiveRows rows_;
    Dice dice_;
    uint32_t running_;
    float violation_[width] = {};
};

}  // namespace TREETOP_ISA
}  // namespace treetop
