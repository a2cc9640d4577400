// Eight bytes that stand for a text: XXH64 of its UTF-8 without white space, capitals folded, both of ASCII only.
#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "common/arrays.hpp"
#include "text/term_counts.hpp"

namespace treetop {
namespace {

constexpr uint64_t prime[] = {0x9E3779B185EBCA87u, 0xC2B2AE3D27D4EB4Fu, 0x165667B19E3779F9u, 0x85EBCA77C2B2AE63u,
                              0x27D4EB2F165667C5u};

// Bytes of a number from the lowest to the highest, whatever the order of this machine: digests are stored.
template <typename T>
T little(const uint8_t *p) {
    T x = 0;
    for (size_t i = 0; i < sizeof(T); ++i) x |= T{p[i]} << 8 * i;
    return x;
}

uint64_t rotate(uint64_t x, int by) { return x << by | x >> (64 - by); }

uint64_t round(uint64_t lane, uint64_t word) { return rotate(lane + word * prime[1], 31) * prime[0]; }

// XXH64 with seed 0 (Yann Collet; the algorithm is public, and its results are the same everywhere).
uint64_t xxh64(const uint8_t *p, size_t size) {
    const uint8_t *end = p + size;
    uint64_t h = prime[4];
    if (size >= 32) {
        uint64_t lanes[] = {prime[0] + prime[1], prime[1], 0, 0 - prime[0]};
        for (; end - p >= 32; p += 32)
            for (int i = 0; i < 4; ++i) lanes[i] = round(lanes[i], little<uint64_t>(p + 8 * i));
        h = rotate(lanes[0], 1) + rotate(lanes[1], 7) + rotate(lanes[2], 12) + rotate(lanes[3], 18);
        for (const uint64_t lane : lanes) h = (h ^ round(0, lane)) * prime[0] + prime[3];
    }
    h += size;
    for (; end - p >= 8; p += 8) h = rotate(h ^ round(0, little<uint64_t>(p)), 27) * prime[0] + prime[3];
    for (; end - p >= 4; p += 4) h = rotate(h ^ little<uint32_t>(p) * prime[0], 23) * prime[1] + prime[2];
    for (; p < end; ++p) h = rotate(h ^ *p * prime[4], 11) * prime[0];
    h = (h ^ h >> 33) * prime[1];
    h = (h ^ h >> 29) * prime[2];
    return h ^ h >> 32;
}

// What each byte becomes, and whether it counts at all.
struct Folding {
    std::array<uint8_t, 256> small, counts;

    Folding() {
        for (int c = 0; c < 256; ++c) {
            small[c] = static_cast<uint8_t>(c >= 'A' && c <= 'Z' ? c - 'A' + 'a' : c);
            counts[c] = !(c == ' ' || (c >= '\t' && c <= '\r'));
        }
    }

    size_t fold(std::string_view text, uint8_t *out) const {
        size_t kept = 0;
        for (const char c : text) {
            out[kept] = small[static_cast<uint8_t>(c)];  // the next byte takes its place if it does not count
            kept += counts[static_cast<uint8_t>(c)];
        }
        return kept;
    }
};

NumpyVector<uint64_t> text_digests(const nb::list &texts) {
    std::vector<std::string_view> views;
    views.reserve(texts.size());
    size_t longest = 0;
    for (nb::handle text : texts) {
        views.push_back(bytes_of(text));
        longest = std::max(longest, views.back().size());
    }
    std::vector<uint64_t> result(views.size());
    {
        nb::gil_scoped_release release;
        const Folding folding;
        std::vector<uint8_t> folded(longest + 1);
        for (size_t i = 0; i < views.size(); ++i) result[i] = xxh64(folded.data(), folding.fold(views[i], folded.data()));
    }
    return to_numpy(std::move(result));
}

}  // namespace

void bind_digests(nb::module_ &module) {
    using namespace nb::literals;
    module.def("text_digests", &text_digests, "texts"_a);
}

}  // namespace treetop
