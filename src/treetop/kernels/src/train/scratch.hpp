// Memory that a thread keeps from task to task: grows, never shrinks, is never initialised, starts on a cache line.
#pragma once

#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <new>

#if defined(__linux__)
#include <sys/mman.h>
#endif

namespace treetop {

template <typename T>
class Scratch {
   public:
    Scratch() = default;
    Scratch(Scratch &&other) noexcept : data_(other.data_), room_(other.room_) {
        other.data_ = nullptr;
        other.room_ = 0;
    }
    Scratch(const Scratch &) = delete;
    Scratch &operator=(const Scratch &) = delete;
    ~Scratch() { std::free(data_); }

    // Room for `count` elements; what was there before is lost.
    T *reserve(int64_t count) {
        if (count > room_) grow(count + count / 4);
        return data_;
    }
    T *reserve_zeros(int64_t count) {
        T *data = reserve(count);
        if (count) std::memset(static_cast<void *>(data), 0, static_cast<size_t>(count) * sizeof(T));
        return data;
    }
    T *data() const { return data_; }
    T &operator[](int64_t i) const { return data_[i]; }

   private:
    static constexpr size_t cache_line = 64;
    static constexpr size_t huge_page = size_t{1} << 21;

    void grow(int64_t count) {
        std::free(data_);
        data_ = nullptr;
        room_ = 0;
        const size_t wanted = static_cast<size_t>(count) * sizeof(T);
        // Weights are visited in random order: huge pages spare most of the address translation misses.
        const size_t unit = wanted >= 2 * huge_page ? huge_page : cache_line;
        const size_t bytes = (wanted + unit - 1) / unit * unit;
        void *memory = std::aligned_alloc(unit, bytes);
        if (memory == nullptr) throw std::bad_alloc();
#if defined(__linux__)
        if (unit == huge_page) madvise(memory, bytes, MADV_HUGEPAGE);
#endif
        data_ = static_cast<T *>(memory);
        room_ = static_cast<int64_t>(bytes / sizeof(T));
    }

    T *data_ = nullptr;
    int64_t room_ = 0;
};

}  // namespace treetop
