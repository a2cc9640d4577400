// Three things about the rows of a sparse matrix that numpy needs large temporary arrays for.
#include <cstring>
#include <functional>

#include "common/buffer.hpp"
#include "common/parallel.hpp"

namespace treetop {
namespace {

constexpr int64_t block_size = 512;
constexpr int64_t few_entries = 32'768;  // done before a thread would have begun

// Calls work(row) for every row, in blocks.
template <typename MakeState, typename Work>
void for_rows(const int64_t *start, int64_t rows, int threads, MakeState make_state, Work work) {
    if (rows <= block_size && start[rows] - start[0] <= few_entries) {
        auto state = make_state();
        for (int64_t row = 0; row < rows; ++row) work(state, row);
        return;
    }
    parallel_for((rows + block_size - 1) / block_size, threads, make_state, [&](auto &state, int64_t block) {
        for (int64_t row = block * block_size; row < std::min(rows, (block + 1) * block_size); ++row) work(state, row);
    });
}

// A whole number in the order of the values; what is not a number comes first.
uint32_t rank_of(float value) {
    if (value != value) return 0;
    value += 0.0f;  // one zero, not two
    uint32_t bits;
    std::memcpy(&bits, &value, sizeof bits);
    return bits >> 31 ? ~bits : bits | 0x80000000u;
}

// Copies the k largest entries of a row; of equal ones, those of lower columns.
void copy_largest(const Rows &x, int64_t row, int64_t k, std::vector<uint32_t> &ranks, int32_t *column, float *value) {
    const int64_t first = x.begin(row), size = x.size(row);
    uint32_t least = 0;
    int64_t ties = size;
    if (size > k) {
        ranks.resize(size);
        for (int64_t i = 0; i < size; ++i) ranks[i] = rank_of(x.value[first + i]);
        std::nth_element(ranks.begin(), ranks.begin() + k - 1, ranks.end(), std::greater<>());
        least = ranks[k - 1];
        ties = k;
        for (int64_t i = 0; i < k - 1; ++i) ties -= ranks[i] > least;
    }
    for (int64_t i = first; i < first + size; ++i) {
        const uint32_t rank = rank_of(x.value[i]);
        if (rank < least || (rank == least && ties-- <= 0)) continue;
        *column++ = x.column[i];
        *value++ = x.value[i];
    }
}

nb::tuple top_k(Vector<int64_t> start, Vector<int32_t> column, Vector<float> value, int64_t k, int threads) {
    const Rows x{start.data(), column.data(), value.data(), static_cast<int64_t>(start.size()) - 1, 0};
    Buffer<int64_t> kept(x.rows + 1);
    kept.data()[0] = 0;
    for (int64_t row = 0; row < x.rows; ++row) kept.data()[row + 1] = kept.data()[row] + std::min(k, x.size(row));
    Buffer<int32_t> kept_column(kept.data()[x.rows]);
    Buffer<float> kept_value(kept.data()[x.rows]);
    for_rows(
        x.start, x.rows, threads, [] { return std::vector<uint32_t>(); },
        [&](std::vector<uint32_t> &ranks, int64_t row) {
            const int64_t to = kept.data()[row];
            if (k > 0) copy_largest(x, row, k, ranks, kept_column.data() + to, kept_value.data() + to);
        });
    return nb::make_tuple(std::move(kept).to_numpy(), std::move(kept_column).to_numpy(),
                          std::move(kept_value).to_numpy());
}

NumpyVector<double> squared_lengths(Vector<int64_t> start, Vector<float> value, int threads) {
    const int64_t rows = static_cast<int64_t>(start.size()) - 1;
    Buffer<double> lengths(rows);
    for_rows(
        start.data(), rows, threads, [] { return 0; },
        [&](int, int64_t row) {
            double sum = 0;
            for (int64_t k = start.data()[row]; k < start.data()[row + 1]; ++k)
                sum += double(value.data()[k]) * value.data()[k];
            lengths.data()[row] = sum;
        });
    return std::move(lengths).to_numpy();
}

// Whether some column is outside 0 … columns-1. Without a branch per entry, so that it is done eight at a time.
template <typename Column>
bool any_outside(const Column *column, int64_t size, int64_t columns) {
    constexpr int64_t step = 1024;
    for (int64_t first = 0; first < size; first += step) {
        bool outside = false;
        for (int64_t k = first; k < std::min(size, first + step); ++k) outside |= column[k] < 0 || column[k] >= columns;
        if (outside) return true;
    }
    return false;
}

// The first row whose offsets fall or leave the array, or that has a column outside; -1 if all are as they should be.
template <typename Column>
int64_t first_bad_row(Vector<int64_t> start, Vector<Column> column, int64_t columns) {
    const int64_t rows = static_cast<int64_t>(start.size()) - 1, size = column.size();
    for (int64_t row = 0; row < rows; ++row)
        if (start.data()[row] < 0 || start.data()[row] > start.data()[row + 1] || start.data()[row + 1] > size) return row;
    if (rows < 1 || !any_outside(column.data() + start.data()[0], start.data()[rows] - start.data()[0], columns)) return -1;
    for (int64_t row = 0; row < rows; ++row)
        if (any_outside(column.data() + start.data()[row], start.data()[row + 1] - start.data()[row], columns)) return row;
    return -1;
}

}  // namespace

void bind_rows(nb::module_ &module) {
    module.def("first_bad_row", &first_bad_row<int32_t>, nb::arg("start"), nb::arg("column"), nb::arg("columns"));
    module.def("first_bad_row", &first_bad_row<int64_t>, nb::arg("start"), nb::arg("column"), nb::arg("columns"));
    module.def("top_k", &top_k, nb::arg("start"), nb::arg("column"), nb::arg("value"), nb::arg("k"),
               nb::arg("threads"));
    module.def("squared_lengths", &squared_lengths, nb::arg("start"), nb::arg("value"), nb::arg("threads"));
}

}  // namespace treetop
