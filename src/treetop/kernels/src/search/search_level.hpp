// A level with what is derived from it on first use, chunk by chunk: a model may be larger than memory, and most of a
// mapped one is never touched.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "search/level.hpp"

namespace treetop {

// Where the rows of a chunk are, by feature. Features are cut into ranges of equal width, a power of two, two to four
// rows to each on average: one byte or two per row, where a table from feature to row would take four or more. No range
// is wider than a page, so that within one the low bits of a feature say which it is.
struct Directory {
    int shift = 0;                // log2 of the width of a range
    std::vector<uint32_t> start;  // first row of each range within the chunk, and the end
    int64_t first_row = 0;  // of the chunk, within the level
    int64_t turns = 0;      // of the offsets, up to there
};

class SearchLevel {
public:
    SearchLevel(const Level &level, size_t number);
    SearchLevel(const SearchLevel &) = delete;
    ~SearchLevel();

    const Level &level() const { return level_; }

    // Looks at every index of a chunk once, before its first use: what is out of range would be read from or written
    // to memory that is not ours. Throws std::domain_error("level: what").
    void check(int64_t parent) {
        if (!checked_[parent].load(std::memory_order_relaxed)) check_now(parent);
    }

    // Checked as well.
    const Directory &directory(int64_t parent) {
        const Directory *found = directories_[parent].load(std::memory_order_acquire);
        return found != nullptr ? *found : make_directory(parent);
    }

private:
    void check_now(int64_t parent);
    const Directory &make_directory(int64_t parent);

    const Level level_;
    const size_t number_;
    std::unique_ptr<std::atomic<bool>[]> checked_;
    std::unique_ptr<std::atomic<const Directory *>[]> directories_;
};

using Levels = std::vector<std::unique_ptr<SearchLevel>>;

}  // namespace treetop
