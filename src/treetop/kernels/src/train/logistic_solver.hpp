// Logistic loss: dual coordinate descent for all lanes at once.
//
// Per node: min over 0 < α < C of ½ Σᵢⱼ αᵢαⱼyᵢyⱼ xᵢ·xⱼ + Σᵢ αᵢ log αᵢ + (Cᵢ−αᵢ) log(Cᵢ−αᵢ), with w = Σᵢ αᵢyᵢxᵢ
// (Yu, Huang, Lin, Dual coordinate descent methods for logistic regression and maximum entropy models, 2011).
// We keep the log-odds u of α/C instead of α: near 0 and near C it loses no digits, and the optimality condition is
// simply u + y·w·x = 0. One step solves u + y·w·x + |x|²·(C·σ(u) − α) = 0, which increases in u.
#pragma once

#include "train/row_order.hpp"
#include "train/row_times_weights.hpp"

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

template <typename Lanes, typename Id>
class LogisticSolver {
    static constexpr int width = Lanes::width;

   public:
    LogisticSolver(const BlockView &block, const LanesView &lanes, const TrainSettings &settings)
        : block_(block), lanes_(lanes), settings_(settings), weights_(block, lanes, settings.bias),
          rows_(block, lanes), dice_(lanes.seed) {}

    void run(const std::atomic<bool> &stop) {
        exchange(0);
        while (running_ != 0 && !stop.load(std::memory_order_relaxed)) {
            epoch();
            if (const uint32_t finished = retire()) exchange(finished);
        }
    }

   private:
    static constexpr float infinity = __builtin_inff();

    // Outside of this solver the dual variable is α; here it is the log-odds of α/C.
    void exchange(uint32_t finished) {
        for (int64_t row = 0; finished != 0 && row < block_.rows; ++row) log_odds_to_alpha(row, finished);
        weights_.bias_weight.store(lanes_.bias_weight);
        const uint32_t fresh = lanes_.exchange(lanes_.owner, finished);
        weights_.bias_weight = Lanes::load(lanes_.bias_weight);
        for (int lane = 0; lane < width; ++lane) {
            if (!(fresh >> lane & 1)) continue;
            epochs_[lane] = 0;
            for (int64_t row = 0; row < block_.rows; ++row) lanes_.dual[row * width + lane] = -infinity;
        }
        running_ |= fresh;
        rows_.restore();
    }

    void epoch() {
        for (float &v : violation_) v = 0;
        rows_.shuffle(dice_);
        for (int64_t i = 0; i < rows_.active; ++i) {
            if (i + 2 < rows_.active) weights_.prefetch(rows_.order[i + 2], lanes_.dual);
            visit(rows_.order[i]);
        }
    }

    uint32_t retire() {
        uint32_t finished = 0;
        for (int lane = 0; lane < width; ++lane)
            if ((running_ >> lane & 1) && (++epochs_[lane] >= settings_.max_iter || violation_[lane] < settings_.eps))
                finished |= 1u << lane;
        running_ &= ~finished;
        return finished;
    }

    void visit(int64_t row) {
        const uint32_t lanes = lanes_.member[row] & running_;
        if (lanes == 0) return;
        float *log_odds = lanes_.dual + row * width;
        float limit[width], alpha[width], margin[width], next[width], step[width];
        limits(row, limit);
        weights_.dot(row, lanes).store(margin);
        const uint32_t positive = lanes_.positive[row];
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
        weights_.add(row, Lanes::load(step), lanes);
    }

    // C of this row in every lane.
    void limits(int64_t row, float *limit) const {
        const float negative = settings_.c_negative * (block_.negative_cost ? block_.negative_cost[row] : 1.0f);
        const float *costs = nullptr;
        if (lanes_.cost_slot != nullptr && lanes_.cost_slot[row] >= 0)
            costs = lanes_.positive_cost + static_cast<int64_t>(lanes_.cost_slot[row]) * width;
        for (int l = 0; l < width; ++l) {
            const float positive = settings_.c_positive * (costs ? costs[l] : 1.0f);
            limit[l] = (lanes_.positive[row] >> l & 1) ? positive : negative;
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

    void log_odds_to_alpha(int64_t row, uint32_t lanes) {
        float limit[width];
        limits(row, limit);
        float *dual = lanes_.dual + row * width;
        for (int l = 0; l < width; ++l)
            if (lanes >> l & 1) dual[l] = dual[l] == -infinity ? 0.0f : limit[l] * sigmoid(dual[l]);
    }

    const BlockView &block_;
    const LanesView &lanes_;
    const TrainSettings &settings_;
    RowTimesWeights<Lanes, Id> weights_;
    ActiveRows rows_;
    Dice dice_;
    uint32_t running_ = 0;
    int epochs_[most_lanes] = {};
    float violation_[width] = {};
};

}  // namespace TREETOP_ISA
}  // namespace treetop
