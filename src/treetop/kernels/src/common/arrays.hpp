// The array types that cross the border between Python and C++: contiguous, typed, never copied silently.
#pragma once

#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

namespace treetop {

namespace nb = nanobind;

template <typename T>
using Vector = nb::ndarray<const T, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
template <typename T>
using Matrix = nb::ndarray<const T, nb::ndim<2>, nb::c_contig, nb::device::cpu>;
template <typename T>
using NumpyVector = nb::ndarray<nb::numpy, T, nb::ndim<1>>;
template <typename T>
using NumpyMatrix = nb::ndarray<nb::numpy, T, nb::ndim<2>>;

// Rows of a sparse matrix: offsets of 64 bits so that more than 2^31 entries fit, columns of 32.
struct Rows {
    const int64_t *start;
    const int32_t *column;
    const float *value;
    int64_t rows;
    int64_t columns;

    int64_t begin(int64_t row) const { return start[row]; }
    int64_t end(int64_t row) const { return start[row + 1]; }
    int64_t size(int64_t row) const { return start[row + 1] - start[row]; }
};

// Gives a std::vector to numpy without copying it.
template <typename T>
NumpyVector<T> to_numpy(std::vector<T> &&data) {
    auto *owner = new std::vector<T>(std::move(data));
    nb::capsule free(owner, [](void *p) noexcept { delete static_cast<std::vector<T> *>(p); });
    return NumpyVector<T>(owner->data(), {owner->size()}, free);
}

template <typename T>
NumpyMatrix<T> to_numpy(std::vector<T> &&data, size_t rows, size_t columns) {
    auto *owner = new std::vector<T>(std::move(data));
    nb::capsule free(owner, [](void *p) noexcept { delete static_cast<std::vector<T> *>(p); });
    return NumpyMatrix<T>(owner->data(), {rows, columns}, free);
}

}  // namespace treetop
