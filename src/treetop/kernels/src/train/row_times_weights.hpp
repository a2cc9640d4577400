// One text against the weights of all lanes: the inner loops of training.
#pragma once

#include "train/lanes.hpp"
#include "train/problem.hpp"

namespace treetop {
namespace TREETOP_ISA {

template <typename Id>
const Id *entries_of(const BlockView &block);
template <>
inline const uint16_t *entries_of<uint16_t>(const BlockView &block) {
    return block.narrow;
}
template <>
inline const uint32_t *entries_of<uint32_t>(const BlockView &block) {
    return block.wide;
}

// One line of weights per feature, one weight per lane; the bias has its own.
template <typename Lanes, typename Id>
class RowTimesWeights {
   public:
    Lanes bias_weight = Lanes::all(0);

    RowTimesWeights(const BlockView &block, const LanesView &lanes, float bias)
        : block_(block), id_(entries_of<Id>(block)), weight_(lanes.weight), dense_weight_(lanes.dense_weight),
          bias_(bias) {}

    // w·x; lanes that are not `wanted` may be left out.
    Lanes dot(int64_t row, uint32_t wanted) const {
        const Lanes base = bias_weight * Lanes::all(bias_);
        if constexpr (Lanes::splits) {
            using Half = typename Lanes::Half;
            if ((wanted >> Half::width) == 0) return {base.low + dot_part<Half>(row, 0), base.high};
            if ((wanted & ((1u << Half::width) - 1)) == 0)
                return {base.low, base.high + dot_part<Half>(row, Half::width)};
        }
        return base + dot_part<Lanes>(row, 0);
    }

    // w += step·x; `moved` are the lanes in which step is not zero.
    void add(int64_t row, Lanes step, uint32_t moved) {
        bias_weight = multiply_add(Lanes::all(bias_), step, bias_weight);
        if constexpr (Lanes::splits) {
            using Half = typename Lanes::Half;
            if ((moved >> Half::width) == 0) return add_part<Half>(row, step.low, 0);
            if ((moved & ((1u << Half::width) - 1)) == 0) return add_part<Half>(row, step.high, Half::width);
        }
        add_part<Lanes>(row, step, 0);
    }

    void prefetch(int64_t row, const float *dual) const {
        const int64_t k = block_.start[row];
        __builtin_prefetch(id_ + k);
        __builtin_prefetch(block_.value + k);
        __builtin_prefetch(dual + row * Lanes::width);
    }

   private:
    // Part is all lanes or a half of them, of which `first` is the first. Four sums hide the latency of multiply-add.
    // Rows are padded to a multiple of four: an end of the loop that cannot be foreseen costs as much as ten entries.
    template <typename Part>
    Part dot_part(int64_t row, int first) const {
        const Id *id = id_ + block_.start[row];
        const Id *end = id_ + block_.start[row + 1];
        const float *x = block_.value + block_.start[row];
        const float *w = weight_ + first;
        Part a = Part::all(0), b = a, c = a, d = a;
        for (; id != end; id += 4, x += 4) {
            a = multiply_add(Part::all(x[0]), Part::load(w + at(id[0])), a);
            b = multiply_add(Part::all(x[1]), Part::load(w + at(id[1])), b);
            c = multiply_add(Part::all(x[2]), Part::load(w + at(id[2])), c);
            d = multiply_add(Part::all(x[3]), Part::load(w + at(id[3])), d);
        }
        const Part sum = (a + b) + (c + d);
        return block_.dims == 0 ? sum : sum + dense_dot<Part>(row, first);
    }

    // Everything is in local variables: a vector store may alias any member, which would be read again each time.
    template <typename Part>
    void add_part(int64_t row, Part step, int first) {
        const Id *id = id_ + block_.start[row];
        const Id *end = id_ + block_.start[row + 1];
        const float *x = block_.value + block_.start[row];
        float *w = weight_ + first;
        for (; id != end; id += 2, x += 2) {
            float *a = w + at(id[0]), *b = w + at(id[1]);
            multiply_add(Part::all(x[0]), step, Part::load(a)).store(a);
            multiply_add(Part::all(x[1]), step, Part::load(b)).store(b);
        }
        if (block_.dims != 0) dense_add<Part>(row, step, first);
    }

    template <typename Part>
    Part dense_dot(int64_t row, int first) const {
        const float *x = dense_row(row), *w = dense_weight_ + first;
        Part a = Part::all(0), b = a, c = a, d = a;
        int64_t k = 0;
        for (; k + 4 <= block_.dims; k += 4, w += 4 * Lanes::width) {
            a = multiply_add(Part::all(x[k]), Part::load(w), a);
            b = multiply_add(Part::all(x[k + 1]), Part::load(w + Lanes::width), b);
            c = multiply_add(Part::all(x[k + 2]), Part::load(w + 2 * Lanes::width), c);
            d = multiply_add(Part::all(x[k + 3]), Part::load(w + 3 * Lanes::width), d);
        }
        for (; k < block_.dims; ++k, w += Lanes::width) a = multiply_add(Part::all(x[k]), Part::load(w), a);
        return (a + b) + (c + d);
    }

    template <typename Part>
    void dense_add(int64_t row, Part step, int first) {
        const float *x = dense_row(row);
        const int64_t dims = block_.dims;
        float *w = dense_weight_ + first;
        for (int64_t k = 0; k < dims; ++k, w += Lanes::width)
            multiply_add(Part::all(x[k]), step, Part::load(w)).store(w);
    }

    static int64_t at(Id feature) { return static_cast<int64_t>(feature) * Lanes::width; }
    const float *dense_row(int64_t row) const { return block_.dense + block_.text[row] * block_.dims; }

    const BlockView &block_;
    const Id *id_;
    float *weight_;
    float *dense_weight_;
    float bias_;
};

}  // namespace TREETOP_ISA
}  // namespace treetop
