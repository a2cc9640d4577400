#include "search/search_level.hpp"

#include <algorithm>
#include <stdexcept>
#include <string>

namespace treetop {
namespace {

bool rises_within(const int32_t *feature, int64_t size, int64_t features) {
    if (size == 0) return true;
    bool rises = feature[0] >= 0 && feature[size - 1] < features;
    for (int64_t i = 1; i < size; ++i) rises &= feature[i - 1] < feature[i];
    return rises;
}

// Offsets of a chunk's rows: within the level, and no row longer than there are children.
bool fits(const int64_t *entry_ptr, int64_t rows, int64_t entries, int64_t children) {
    bool good = entry_ptr[0] >= 0 && entry_ptr[rows] <= entries;
    for (int64_t row = 0; row < rows; ++row)
        good &= entry_ptr[row] <= entry_ptr[row + 1] && entry_ptr[row + 1] - entry_ptr[row] <= children;
    return good;
}

template <typename Child>
bool all_below(const void *entry_child, int64_t first, int64_t last, int64_t children) {
    const auto *child = static_cast<const Child *>(entry_child);
    Child largest = 0;
    for (int64_t e = first; e < last; ++e) largest = std::max(largest, child[e]);
    return first == last || largest < children;
}

// Null if the chunk is sound.
const char *damage_of(const Level &level, int64_t parent) {
    const int64_t first = level.row_ptr[parent], rows = level.row_ptr[parent + 1] - first;
    const int64_t children = level.children_of(parent);
    const int64_t *entry_ptr = level.entry_ptr + first;
    if (!rises_within(level.row_feature + first, rows, level.features)) return "row_feature does not rise";
    if (!fits(entry_ptr, rows, level.entries(), children)) return "entry_ptr does not rise";
    const auto below = level.wide ? all_below<uint32_t> : all_below<uint16_t>;
    if (!below(level.entry_child, entry_ptr[0], entry_ptr[rows], children)) return "entry_child is too large";
    return nullptr;
}

}  // namespace

SearchLevel::SearchLevel(const Level &level, size_t number)
    : level_(level), number_(number), checked_(new std::atomic<bool>[static_cast<size_t>(level.parents)]()),
      directories_(new std::atomic<const Directory *>[static_cast<size_t>(level.parents)]()) {}

SearchLevel::~SearchLevel() {
    for (int64_t parent = 0; parent < level_.parents; ++parent) delete directories_[parent].load();
}

void SearchLevel::check_now(int64_t parent) {
    if (const char *damage = damage_of(level_, parent))
        throw std::domain_error(std::to_string(number_) + ": " + damage + " among the children of node " +
                                std::to_string(parent));
    checked_[parent].store(true, std::memory_order_relaxed);
}

const Directory &SearchLevel::make_directory(int64_t parent) {
    check(parent);
    const int64_t first = level_.row_ptr[parent], rows = level_.row_ptr[parent + 1] - first;
    auto made = std::make_unique<Directory>();
    made->feature = level_.row_feature + first;
    made->entry_ptr = level_.entry_ptr + first;
    while ((level_.features >> made->shift) + 1 > std::max<int64_t>(1, rows / 2)) ++made->shift;
    made->start.assign(static_cast<size_t>(level_.features >> made->shift) + 2, 0);
    for (int64_t row = 0; row < rows; ++row) ++made->start[(made->feature[row] >> made->shift) + 1];
    for (size_t range = 1; range < made->start.size(); ++range) made->start[range] += made->start[range - 1];
    const Directory *expected = nullptr;  // another thread may be first; its directory is the same
    const bool first_here = directories_[parent].compare_exchange_strong(expected, made.get());
    return first_here ? *made.release() : *expected;
}

}  // namespace treetop
