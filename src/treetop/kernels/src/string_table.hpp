// Distinct byte strings, numbered 0, 1, 2 … in the order in which they were first seen.
#pragma once

#include <cstdint>
#include <cstring>
#include <stdexcept>
#include <string_view>
#include <vector>

namespace treetop {

inline uint64_t load64(const char *p) {
    uint64_t x;
    std::memcpy(&x, p, 8);
    return x;
}

inline uint32_t load32(const char *p) {
    uint32_t x;
    std::memcpy(&x, p, 4);
    return x;
}

// Up to eight bytes as one number; different strings of one length give different numbers.
inline uint64_t load_short(const char *p, size_t n) {
    if (n == 8) return load64(p);
    if (n >= 4) return load32(p) | uint64_t{load32(p + n - 4)} << 32;
    if (n == 0) return 0;
    return uint64_t(uint8_t(p[0])) << 16 | uint64_t(uint8_t(p[n / 2])) << 8 | uint8_t(p[n - 1]);
}

inline uint64_t mix(uint64_t h) {
    h *= 0x9E3779B97F4A7C15u;
    return h ^ (h >> 32);
}

// Only for tables in memory: it is never stored and need not be equal on all machines.
inline uint32_t hash_of(std::string_view s) {
    const char *p = s.data();
    size_t n = s.size();
    uint64_t h = n;
    for (; n > 8; p += 8, n -= 8) h = mix(h ^ load64(p));
    return static_cast<uint32_t>(mix(mix(h ^ load_short(p, n))));
}

inline bool equal_bytes(const char *a, const char *b, size_t n) {
    for (; n > 8; a += 8, b += 8, n -= 8)
        if (load64(a) != load64(b)) return false;
    return load_short(a, n) == load_short(b, n);
}

// Open addressing with linear probing, at most half full. A slot holds the hash (upper half) and the number plus one.
class StringTable {
  public:
    explicit StringTable(size_t expected = 0) { resize_slots(expected); }

    int32_t size() const { return static_cast<int32_t>(hashes_.size()); }
    uint32_t hash(int32_t id) const { return hashes_[id]; }
    const std::vector<char> &bytes() const { return bytes_; }
    const std::vector<int64_t> &offsets() const { return offsets_; }

    std::string_view operator[](int32_t id) const {
        return {bytes_.data() + offsets_[id], static_cast<size_t>(offsets_[id + 1] - offsets_[id])};
    }

    // The number of the string, or -1.
    int32_t find(std::string_view s, uint32_t hash) const { return static_cast<int32_t>(slots_[slot(s, hash)]) - 1; }
    int32_t find(std::string_view s) const { return find(s, hash_of(s)); }

    // The number of the string, which is size() - 1 from now on if it is new.
    int32_t insert(std::string_view s, uint32_t hash) {
        const size_t at = slot(s, hash);
        if (slots_[at] != 0) return static_cast<int32_t>(slots_[at]) - 1;
        if (hashes_.size() >= INT32_MAX - 1) throw std::length_error("more than 2^31 different terms; use hash_bits");
        bytes_.insert(bytes_.end(), s.begin(), s.end());
        offsets_.push_back(static_cast<int64_t>(bytes_.size()));
        hashes_.push_back(hash);
        slots_[at] = uint64_t{hash} << 32 | hashes_.size();
        if (2 * hashes_.size() > slots_.size()) resize_slots(hashes_.size());
        return size() - 1;
    }
    int32_t insert(std::string_view s) { return insert(s, hash_of(s)); }

  private:
    // Where the string is, or the empty slot where it belongs.
    size_t slot(std::string_view s, uint32_t hash) const {
        for (size_t at = hash & mask_;; at = (at + 1) & mask_) {
            const uint64_t entry = slots_[at];
            if (entry == 0) return at;
            if (entry >> 32 != hash) continue;
            const int32_t id = static_cast<int32_t>(entry) - 1;
            const int64_t start = offsets_[id];
            const size_t n = static_cast<size_t>(offsets_[id + 1] - start);
            if (n == s.size() && equal_bytes(bytes_.data() + start, s.data(), n)) return at;
        }
    }

    void resize_slots(size_t expected) {
        size_t count = 64;
        while (count < 4 * expected) count *= 2;
        slots_.assign(count, 0);
        mask_ = count - 1;
        for (size_t id = 0; id < hashes_.size(); ++id) {
            size_t at = hashes_[id] & mask_;
            while (slots_[at] != 0) at = (at + 1) & mask_;
            slots_[at] = uint64_t{hashes_[id]} << 32 | (id + 1);
        }
    }

    std::vector<char> bytes_;
    std::vector<int64_t> offsets_{0};
    std::vector<uint32_t> hashes_;
    std::vector<uint64_t> slots_;
    size_t mask_ = 0;
};

}  // namespace treetop
