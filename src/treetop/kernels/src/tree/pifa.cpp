// PIFA: the features of a label are the weighted sum of the features of its texts.
//
// One label at a time: its texts are added into an accumulator as wide as the features, and a bitmap of the touched
// features gives them back in order, so that neither clearing nor sorting costs more than what was touched.
#include <cmath>

#include "common/buffer.hpp"
#include "common/parallel.hpp"

namespace treetop {
namespace {

class Accumulator {
public:
    explicit Accumulator(int64_t columns)
        : sum_(columns, 0.0f), touched_((columns + 63) / 64, 0), words_((columns + 4095) / 4096, 0) {}

    void add(const Rows &x, int64_t row, float weight) {
        for (int64_t k = x.begin(row); k < x.end(row); ++k) {
            const int32_t f = x.column[k];
            sum_[f] += weight * x.value[k];
            touched_[f >> 6] |= uint64_t(1) << (f & 63);
            words_[f >> 12] |= uint64_t(1) << ((f >> 6) & 63);
        }
    }

    // Moves the sums out, in order of features; returns how many.
    int64_t drain(int32_t *column, float *value) {
        int64_t count = 0;
        for (size_t group = 0; group < words_.size(); ++group) {
            for (uint64_t words = std::exchange(words_[group], 0); words; words &= words - 1) {
                const int64_t word = (group << 6) + __builtin_ctzll(words);
                for (uint64_t bits = std::exchange(touched_[word], 0); bits; bits &= bits - 1) {
                    const int32_t f = static_cast<int32_t>((word << 6) + __builtin_ctzll(bits));
                    column[count] = f;
                    value[count++] = std::exchange(sum_[f], 0.0f);
                }
            }
        }
        return count;
    }

private:
    std::vector<float> sum_;
    std::vector<uint64_t> touched_;  // one bit per feature
    std::vector<uint64_t> words_;    // one bit per word of `touched_`
};

struct LabelBlock {
    Buffer<int32_t> column;
    Buffer<float> value;
    std::vector<int64_t> sizes;
};

void scale_to_unit_length(float *value, int64_t count) {
    double squares = 0;
    for (int64_t k = 0; k < count; ++k) squares += double(value[k]) * value[k];
    if (squares <= 0) return;
    const float scale = static_cast<float>(1 / std::sqrt(squares));
    for (int64_t k = 0; k < count; ++k) value[k] *= scale;
}

int64_t most_entries(const Rows &members, const Rows &features, int64_t label) {
    int64_t count = 0;
    for (int64_t k = members.begin(label); k < members.end(label); ++k) count += features.size(members.column[k]);
    return std::min(count, features.columns);
}

void add_label(const Rows &members, const Rows &features, int64_t label, bool normalise, Accumulator &sum,
               LabelBlock &out) {
    const int64_t most = most_entries(members, features, label);
    int32_t *column = out.column.grow(most);
    float *value = out.value.grow(most);
    for (int64_t k = members.begin(label); k < members.end(label); ++k)
        sum.add(features, members.column[k], members.value[k]);
    const int64_t count = sum.drain(column, value);
    if (normalise) scale_to_unit_length(value, count);
    out.column.add_size(count);
    out.value.add_size(count);
    out.sizes.push_back(count);
}

nb::tuple concatenate(std::vector<LabelBlock> &blocks, int64_t labels, int threads) {
    Buffer<int64_t> start(labels + 1);
    std::vector<int64_t> first(blocks.size() + 1, 0);
    int64_t label = 0;
    start.data()[0] = 0;
    for (size_t b = 0; b < blocks.size(); ++b) {
        for (int64_t size : blocks[b].sizes) {
            start.data()[label + 1] = start.data()[label] + size;
            ++label;
        }
        first[b + 1] = start.data()[label];
    }
    Buffer<int32_t> column(first.back());
    Buffer<float> value(first.back());
    auto no_state = [] { return 0; };
    parallel_for(blocks.size(), threads, no_state, [&](int, int64_t b) {
        LabelBlock block = std::move(blocks[b]);  // freed as soon as it is copied
        if (!block.column.size()) return;
        std::memcpy(column.data() + first[b], block.column.data(), block.column.size() * sizeof(int32_t));
        std::memcpy(value.data() + first[b], block.value.data(), block.value.size() * sizeof(float));
    });
    return nb::make_tuple(std::move(start).to_numpy(), std::move(column).to_numpy(), std::move(value).to_numpy());
}

nb::tuple pifa(Vector<int64_t> member_start, Vector<int32_t> member_text, Vector<float> member_weight,
               Vector<int64_t> start, Vector<int32_t> column, Vector<float> value, int64_t columns, bool normalise,
               int threads) {
    const Rows members{member_start.data(), member_text.data(), member_weight.data(),
                       static_cast<int64_t>(member_start.size()) - 1, static_cast<int64_t>(start.size()) - 1};
    const Rows features{start.data(), column.data(), value.data(), static_cast<int64_t>(start.size()) - 1, columns};
    constexpr int64_t block_size = 64;
    std::vector<LabelBlock> blocks((members.rows + block_size - 1) / block_size);
    parallel_for(
        blocks.size(), threads, [&] { return Accumulator(columns); },
        [&](Accumulator &sum, int64_t b) {
            const int64_t end = std::min(members.rows, (b + 1) * block_size);
            for (int64_t label = b * block_size; label < end; ++label)
                add_label(members, features, label, normalise, sum, blocks[b]);
        });
    return concatenate(blocks, members.rows, threads);
}

}  // namespace

void bind_pifa(nb::module_ &module) {
    module.def("pifa", &pifa, nb::arg("member_start"), nb::arg("member_text"), nb::arg("member_weight"),
               nb::arg("start"), nb::arg("column"), nb::arg("value"), nb::arg("columns"), nb::arg("normalise"),
               nb::arg("threads"));
}

}  // namespace treetop
