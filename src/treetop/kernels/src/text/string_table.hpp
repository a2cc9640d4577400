// Distinct byte strings, numbered 0, 1, 2 … in the order in which they were first seen.
#pragma once

#include <cstdint>
#include <cstring>
#include <stdexcept>
#include <string_view>
#include <vector>

namespace treetop {

template <typename T>
T load(const char *p) {
    T x;
    std::memcpy(&x, p, sizeof(T));
    return x;
}

// A string with all that looking it up needs. The hash is only for tables in memory: it is never stored.
struct Key {
    std::string_view text;
    uint64_t first;  // eight bytes, or fewer followed by zeros
    uint32_t hash;

    // A string after which at least eight more bytes may be read.
    static Key padded(std::string_view s) {
        const auto eight = load<uint64_t>(s.data());
        return Key(s, s.size() >= 8 ? eight : eight & ((uint64_t{1} << 8 * s.size()) - 1));
    }

    explicit Key(std::string_view s) : Key(s, first_bytes(s)) {}

    Key(std::string_view s, uint64_t first, uint32_t hash) : text(s), first(first), hash(hash) {}

  private:
    Key(std::string_view s, uint64_t first) : text(s), first(first) {
        uint64_t h = mix(first ^ s.size());
        const char *p = s.data() + 8;
        for (size_t n = s.size(); n > 8; n -= 8, p += 8) {
            const size_t back = n < 16 ? 16 - n : 0;  // the last eight bytes may overlap those before
            h = mix(h ^ load<uint64_t>(p - back));
        }
        hash = static_cast<uint32_t>(mix(h));
    }

    static uint64_t first_bytes(std::string_view s) {
        char bytes[8] = {};
        std::memcpy(bytes, s.data(), s.size() < 8 ? s.size() : 8);
        return load<uint64_t>(bytes);
    }

    static uint64_t mix(uint64_t h) {
        h *= 0x9E3779B97F4A7C15u;
        return h ^ h >> 32;
    }
};

// Open addressing with linear probing, at most half full. A slot holds the hash (upper half) and the number plus one.
class StringTable {
  public:
    explicit StringTable(size_t expected = 0) { resize_slots(expected); }

    int32_t size() const { return static_cast<int32_t>(entries_.size()); }

    std::string_view operator[](int32_t id) const {
        return {bytes_.data() + entries_[id].start, static_cast<size_t>(entries_[id].size)};
    }

    Key key(int32_t id) const { return Key((*this)[id], entries_[id].first, entries_[id].hash); }

    // The number of the string, or -1.
    int32_t find(const Key &key) const { return static_cast<int32_t>(slots_[slot(key)]) - 1; }

    // The number of the string, which is size() - 1 from now on if it is new.
    int32_t insert(const Key &key) {
        const size_t at = slot(key);
        if (slots_[at] != 0) return static_cast<int32_t>(slots_[at]) - 1;
        if (entries_.size() >= INT32_MAX - 1) throw std::length_error("more than 2^31 different terms; use hash_bits");
        entries_.push_back({key.first, bytes_.size(), key.text.size(), key.hash});
        bytes_.insert(bytes_.end(), key.text.begin(), key.text.end());
        slots_[at] = uint64_t{key.hash} << 32 | entries_.size();
        if (2 * entries_.size() > slots_.size()) resize_slots(entries_.size());
        return size() - 1;
    }

    // Keeps the strings, but nothing can be found any more: the table to find them is the larger part.
    void close() { slots_ = std::vector<uint64_t>(); }

  private:
    struct Entry {
        uint64_t first;  // most strings are told apart without a look at bytes_
        size_t start, size;
        uint32_t hash;
    };

    bool holds(const Entry &entry, const Key &key) const {
        return entry.first == key.first && entry.size == key.text.size() &&
               (entry.size <= 8 || std::memcmp(&bytes_[entry.start + 8], &key.text[8], entry.size - 8) == 0);
    }

    // Where the string is, or the empty slot where it belongs.
    size_t slot(const Key &key) const {
        for (size_t at = key.hash & mask_;; at = (at + 1) & mask_) {
            const uint64_t entry = slots_[at];
            if (entry == 0 || (entry >> 32 == key.hash && holds(entries_[static_cast<uint32_t>(entry) - 1], key)))
                return at;
        }
    }

    void resize_slots(size_t expected) {
        size_t count = 64;
        while (count < 4 * expected) count *= 2;
        slots_.assign(count, 0);
        mask_ = count - 1;
        for (size_t id = 0; id < entries_.size(); ++id) {
            size_t at = entries_[id].hash & mask_;
            while (slots_[at] != 0) at = (at + 1) & mask_;
            slots_[at] = uint64_t{entries_[id].hash} << 32 | (id + 1);
        }
    }

    std::vector<char> bytes_;
    std::vector<Entry> entries_;
    std::vector<uint64_t> slots_;
    size_t mask_ = 0;
};

}  // namespace treetop
