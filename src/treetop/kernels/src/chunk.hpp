// A chunk made ready for many texts: a table from feature number (numbering.hpp) to row. Broad rows that are not stored
// in full are spread out, so that adding one is a few vector operations.
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <vector>

#include "level.hpp"
#include "numbering.hpp"
#include "search_kernels.hpp"

namespace treetop {

class Chunk {
public:
    void use(const Level &level, const Numbering &numbers) {
        clear();
        level_ = &level;
        numbers_ = &numbers;
        parent_ = -1;
        if (table_.size() < static_cast<size_t>(numbers.size())) table_.resize(numbers.size(), RowRef{0});
    }

    // A parent that is ready already stays: a level with a single parent is prepared once for all texts.
    void prepare(int64_t parent) {
        if (parent == parent_) return;
        clear();
        parent_ = parent;
        if (level_->wide) {
            if (level_->half) fill<uint32_t, uint16_t>();
            else fill<uint32_t, float>();
        } else {
            if (level_->half) fill<uint16_t, uint16_t>();
            else fill<uint16_t, float>();
        }
    }

    ChunkIndex index() const { return {table_.data(), level_->children_of(parent_)}; }

private:
    void clear() {
        for (const int32_t number : filled_) table_[number] = RowRef{0};
        filled_.clear();
    }

    // Rows that no text of the block asks for are passed over.
    template <typename Child, typename Value>
    void fill() {
        const Level &level = *level_;
        const auto *value = static_cast<const Value *>(level.entry_value);
        const auto *child = static_cast<const Child *>(level.entry_child);
        const int64_t children = level.children_of(parent_);
        const int64_t in_place = level.entries() - children - kOverread;  // later ones could be read over the end
        const int64_t stride = (children + kOverread - 1) / kOverread * kOverread;
        auto *free = static_cast<Value *>(room_for_spread(children, stride, sizeof(Value)));
        for (int64_t row = level.row_ptr[parent_]; row < level.row_ptr[parent_ + 1]; ++row) {
            const int32_t number = numbers_->of(level.row_feature[row]);
            if (number < 0) continue;
            const int64_t first = level.entry_ptr[row], last = level.entry_ptr[row + 1];
            RowRef &ref = table_[number];
            filled_.push_back(number);
            if (!is_broad(last - first, children)) {
                ref = RowRef::narrow(first, last - first);
            } else if (last - first == children && first <= in_place) {
                ref = RowRef::broad(value + first);
            } else {
                ref = RowRef::broad(free);
                std::fill_n(free, stride, Value{0});
                for (int64_t e = first; e < last; ++e) free[child[e]] = value[e];
                free += stride;
            }
        }
    }

    // Enough for all broad rows of the chunk. Not initialised: what is never used costs no memory.
    void *room_for_spread(int64_t children, int64_t stride, size_t value_size) {
        const int64_t first = level_->row_ptr[parent_], last = level_->row_ptr[parent_ + 1];
        const int64_t entries = level_->entry_ptr[last] - level_->entry_ptr[first];
        const int64_t most = std::min(last - first, 8 * entries / std::max<int64_t>(1, children));
        const size_t bytes = static_cast<size_t>(most * stride) * value_size + kCacheLine;
        if (bytes > spread_bytes_) {
            spread_.reset(new char[bytes]);
            spread_bytes_ = bytes;
        }
        void *start = spread_.get();
        size_t room = bytes;
        return std::align(kCacheLine, bytes - kCacheLine, start, room);
    }

    static constexpr size_t kCacheLine = 64;

    const Level *level_ = nullptr;
    const Numbering *numbers_ = nullptr;
    int64_t parent_ = -1;
    std::vector<RowRef> table_;  // by number; no bits set: no row
    std::vector<int32_t> filled_;
    std::unique_ptr<char[]> spread_;
    size_t spread_bytes_ = 0;
};

}  // namespace treetop
