// Memory for results: it grows, is not written before it is used, and is handed to numpy without a copy.
#pragma once

#include <algorithm>
#include <cstring>

#include "common/arrays.hpp"

namespace treetop {

// std::vector would first write zeros into memory that is overwritten at once.
template <typename T>
class Buffer {
public:
    Buffer() = default;
    explicit Buffer(int64_t size) : data_(new T[size]), capacity_(size), size_(size) {}

    // Room for `extra` more at the end; `add_size` says how much of it was used.
    T *grow(int64_t extra) {
        if (size_ + extra > capacity_) {
            capacity_ = std::max(2 * capacity_, size_ + extra);
            std::unique_ptr<T[]> bigger(new T[capacity_]);
            if (size_) std::memcpy(bigger.get(), data_.get(), size_ * sizeof(T));
            data_ = std::move(bigger);
        }
        return data_.get() + size_;
    }
    void add_size(int64_t extra) { size_ += extra; }

    T *data() { return data_.get(); }
    int64_t size() const { return size_; }

    NumpyVector<T> to_numpy() && {
        T *owned = data_.release();
        nb::capsule free(owned, [](void *p) noexcept { delete[] static_cast<T *>(p); });
        return NumpyVector<T>(owned, {static_cast<size_t>(size_)}, free);
    }

private:
    std::unique_ptr<T[]> data_;
    int64_t capacity_ = 0;
    int64_t size_ = 0;
};

}  // namespace treetop
