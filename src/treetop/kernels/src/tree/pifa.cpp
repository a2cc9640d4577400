// PIFA: the features of a label are the weighted sum of the features of its texts.
//
// One label at a time: its texts are added into an accumulator as wide as the features, and a bitmap of the touched
// features gives them back in order, so that neither clearing nor sorting costs more than what was touched.
#include <atomic>
#include <cmath>

#include "common/buffer.hpp"
#include "common/parallel.hpp"
#include "tree/bundle.hpp"

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

    // Moves the sums out, in order of features, under their new numbers if there are any; returns how many.
    int64_t drain(const int32_t *number, int32_t *column, float *value) {
        int64_t count = 0;
        for (size_t group = 0; group < words_.size(); ++group) {
            for (uint64_t words = std::exchange(words_[group], 0); words; words &= words - 1) {
                const int64_t word = (group << 6) + __builtin_ctzll(words);
                for (uint64_t bits = std::exchange(touched_[word], 0); bits; bits &= bits - 1) {
                    const int32_t f = static_cast<int32_t>((word << 6) + __builtin_ctzll(bits));
                    column[count] = number == nullptr ? f : number[f];
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

void scale_to_unit_length(float *value, int64_t count) {
    double squares = 0;
    for (int64_t k = 0; k < count; ++k) squares += double(value[k]) * value[k];
    if (squares <= 0) return;
    const float scale = static_cast<float>(1 / std::sqrt(squares));
    for (int64_t k = 0; k < count; ++k) value[k] *= scale;
}

constexpr int64_t block_size = 64;  // labels

template <typename State, typename Make, typename Action>
void for_labels(int64_t labels, int threads, Make &&make_state, Action &&action) {
    parallel_for((labels + block_size - 1) / block_size, threads, make_state, [&](State &state, int64_t block) {
        const int64_t end = std::min(labels, (block + 1) * block_size);
        for (int64_t label = block * block_size; label < end; ++label) action(state, label);
    });
}

// Where the features of each label will be: they are counted first, so that the sums go to their places at once and
// the result is never held twice.
struct Starts {
    Buffer<int64_t> start;
    std::vector<std::atomic<int32_t>> frequency;  // of features: labels that have them
};

// What a thread has counted by itself, added to what all have when it is done: adding one by one takes three times as long.
struct Seen {
    explicit Seen(std::vector<std::atomic<int32_t>> &all) : all(&all), last(all.size(), -1), own(all.size(), 0) {}
    Seen(Seen &&) = default;
    ~Seen() {
        for (size_t f = 0; f < own.size(); ++f)
            if (own[f] > 0) (*all)[f].fetch_add(own[f], std::memory_order_relaxed);
    }

    std::vector<std::atomic<int32_t>> *all;
    std::vector<int32_t> last, own;  // by feature: the last label that had it, and how many did
};

Starts find_starts(const Rows &members, const Rows &features, int threads) {
    Starts found{Buffer<int64_t>(members.rows + 1), std::vector<std::atomic<int32_t>>(features.columns)};
    Buffer<int64_t> &start = found.start;
    int64_t *counts = start.data();
    counts[0] = 0;
    for_labels<Seen>(members.rows, threads, [&] { return Seen(found.frequency); }, [&](Seen &seen, int64_t label) {
        const auto number = static_cast<int32_t>(label);
        int32_t *last = seen.last.data(), *own = seen.own.data();
        int64_t count = 0;
        for (int64_t k = members.begin(label); k < members.end(label); ++k)
            for (int64_t e = features.begin(members.column[k]); e < features.end(members.column[k]); ++e) {
                const int32_t feature = features.column[e], fresh = last[feature] != number;
                last[feature] = number;
                own[feature] += fresh;
                count += fresh;
            }
        counts[label + 1] = count;
    });
    for (int64_t label = 0; label < members.rows; ++label) counts[label + 1] += counts[label];
    return found;
}

// New numbers, frequent features first: what k-means would give them in a copy of its own.
std::vector<int32_t> number_by_frequency(const std::vector<std::atomic<int32_t>> &frequency, int64_t labels) {
    std::vector<int32_t> counts(frequency.size());
    for (size_t f = 0; f < counts.size(); ++f) counts[f] = frequency[f].load(std::memory_order_relaxed);
    return kmeans::Numbering(std::move(counts), labels, 1).number;
}

nb::tuple pifa(Vector<int64_t> member_start, Vector<int32_t> member_text, Vector<float> member_weight,
               Vector<int64_t> start, Vector<int32_t> column, Vector<float> value, int64_t columns, bool normalise,
               bool by_frequency, int threads) {
    const Rows members{member_start.data(), member_text.data(), member_weight.data(),
                       static_cast<int64_t>(member_start.size()) - 1, static_cast<int64_t>(start.size()) - 1};
    const Rows features{start.data(), column.data(), value.data(), static_cast<int64_t>(start.size()) - 1, columns};
    Starts found = find_starts(members, features, threads);
    const int64_t *place = found.start.data();
    std::vector<int32_t> number;
    if (by_frequency) number = number_by_frequency(found.frequency, members.rows);
    Buffer<int32_t> columns_of(place[members.rows]);
    Buffer<float> values_of(place[members.rows]);
    for_labels<Accumulator>(
        members.rows, threads, [&] { return Accumulator(columns); },
        [&](Accumulator &sum, int64_t label) {
            for (int64_t k = members.begin(label); k < members.end(label); ++k)
                sum.add(features, members.column[k], members.value[k]);
            const int64_t count = sum.drain(by_frequency ? number.data() : nullptr, columns_of.data() + place[label], values_of.data() + place[label]);
            if (normalise) scale_to_unit_length(values_of.data() + place[label], count);
        });
    return nb::make_tuple(std::move(found.start).to_numpy(), std::move(columns_of).to_numpy(),
                          std::move(values_of).to_numpy());
}

}  // namespace

void bind_pifa(nb::module_ &module) {
    module.def("pifa", &pifa, nb::arg("member_start"), nb::arg("member_text"), nb::arg("member_weight"),
               nb::arg("start"), nb::arg("column"), nb::arg("value"), nb::arg("columns"), nb::arg("normalise"),
               nb::arg("by_frequency"), nb::arg("threads"));
}

}  // namespace treetop
