// One text against all weights of a group of nodes: the inner loops of training.
#pragma once

#include "lanes.hpp"
#include "train_problem.hpp"

namespace treetop {
namespace TREETOP_ISA {

// One line of weights per feature, one weight per lane; the bias has its own.
template <typename Lanes>
struct RowTimesWeights {
    const BlockView &block;
    float *weight;
    float *dense_weight;
    float bias;
    Lanes bias_weight;

    RowTimesWeights(const BlockView &b, const GroupView &group, float bias_value)
        : block(b), weight(group.weight), dense_weight(group.dense_weight), bias(bias_value),
          bias_weight(Lanes::all(0)) {}

    Lanes line(uint32_t feature) const { return Lanes::load(weight + static_cast<int64_t>(feature) * Lanes::width); }

    // w·x for every lane. Four sums hide the latency of multiply-add.
    Lanes dot(int64_t row) const {
        Lanes a = bias_weight * Lanes::all(bias), b = Lanes::all(0), c = b, d = b;
        const uint32_t *id = block.local;
        const float *x = block.value;
        int64_t k = block.start[row];
        const int64_t end = block.start[row + 1];
        for (; k + 4 <= end; k += 4) {
            a = multiply_add(Lanes::all(x[k]), line(id[k]), a);
            b = multiply_add(Lanes::all(x[k + 1]), line(id[k + 1]), b);
            c = multiply_add(Lanes::all(x[k + 2]), line(id[k + 2]), c);
            d = multiply_add(Lanes::all(x[k + 3]), line(id[k + 3]), d);
        }
        for (; k < end; ++k) a = multiply_add(Lanes::all(x[k]), line(id[k]), a);
        const Lanes sum = (a + b) + (c + d);
        return block.dims == 0 ? sum : sum + dense_dot(row);
    }

    // w += step·x in every lane.
    void add(int64_t row, Lanes step) {
        bias_weight = multiply_add(Lanes::all(bias), step, bias_weight);
        const int64_t end = block.start[row + 1];
        for (int64_t k = block.start[row]; k < end; ++k) {
            const Lanes moved = multiply_add(Lanes::all(block.value[k]), step, line(block.local[k]));
            moved.store(weight + static_cast<int64_t>(block.local[k]) * Lanes::width);
        }
        if (block.dims != 0) dense_add(row, step);
    }

    void prefetch(int64_t row, const float *dual) const {
        const int64_t k = block.start[row];
        __builtin_prefetch(block.local + k);
        __builtin_prefetch(block.value + k);
        __builtin_prefetch(dual + row * Lanes::width);
    }

   private:
    const float *dense_row(int64_t row) const { return block.dense + block.text[row] * block.dims; }

    Lanes dense_dot(int64_t row) const {
        const float *x = dense_row(row), *w = dense_weight;
        Lanes a = Lanes::all(0), b = a, c = a, d = a;
        int64_t k = 0;
        for (; k + 4 <= block.dims; k += 4, w += 4 * Lanes::width) {
            a = multiply_add(Lanes::all(x[k]), Lanes::load(w), a);
            b = multiply_add(Lanes::all(x[k + 1]), Lanes::load(w + Lanes::width), b);
            c = multiply_add(Lanes::all(x[k + 2]), Lanes::load(w + 2 * Lanes::width), c);
            d = multiply_add(Lanes::all(x[k + 3]), Lanes::load(w + 3 * Lanes::width), d);
        }
        for (; k < block.dims; ++k, w += Lanes::width) a = multiply_add(Lanes::all(x[k]), Lanes::load(w), a);
        return (a + b) + (c + d);
    }

    void dense_add(int64_t row, Lanes step) {
        const float *x = dense_row(row);
        float *w = dense_weight;
        for (int64_t k = 0; k < block.dims; ++k, w += Lanes::width)
            multiply_add(Lanes::all(x[k]), step, Lanes::load(w)).store(w);
    }
};

}  // namespace TREETOP_ISA
}  // namespace treetop
