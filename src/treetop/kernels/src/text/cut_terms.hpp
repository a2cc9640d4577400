// From a text in UTF-8 to its terms: n-grams of words, of characters, or of the characters of each word.
#pragma once

#include <algorithm>
#include <cstdint>
#include <stdexcept>
#include <string_view>
#include <vector>

#include "text/string_table.hpp"

namespace treetop {

enum class Kind { word, character, word_characters };

struct Analysis {
    Kind kind;
    int shortest, longest;  // of the n-grams
    int token_length;       // characters a word has at least; 0: the words are given, each ended by the byte 0xFF
    StringTable stop;       // words that are left out before n-grams are made
};

constexpr char word_end = '\xFF';  // occurs nowhere in UTF-8

// What characters are and which letter they become. Texts are valid UTF-8, because Python encoded them.
class Alphabet {
  public:
    // Of each code point: bit 0 for characters of words, bit 1 for white space, and above them the folded code point.
    // Code points beyond the table are neither and stay what they are.
    Alphabet(const uint32_t *table, size_t size) : table_(table), size_(size) {
        for (size_t c = 0; c < 0x80; ++c) {
            folded_[c] = static_cast<char>(table[c] >> 2);
            word_[c] = table[c] & 1 ? folded_[c] : '\0';
        }
    }

    static bool is_ascii(const char *p) { return static_cast<uint8_t>(*p) < 0x80; }
    static int width(const char *p) {
        const auto lead = static_cast<uint8_t>(*p);
        return lead < 0x80 ? 1 : lead < 0xE0 ? 2 : lead < 0xF0 ? 3 : 4;
    }

    // An ASCII character of words, folded; 0 for any other byte.
    char word(const char *p) const { return word_[static_cast<uint8_t>(*p)]; }
    bool in_word(const char *p) const { return look_up(code_point(p)) & 1; }
    bool is_space(const char *p) const { return look_up(code_point(p)) & 2; }

    // Copies one character, folded, and moves both pointers behind it. It may grow from two bytes to three.
    void copy(const char *&from, char *&to) const {
        if (is_ascii(from)) {
            *to++ = folded_[static_cast<uint8_t>(*from++)];
            return;
        }
        const uint32_t before = code_point(from), after = look_up(before) >> 2;
        const int n = width(from);
        if (before == after)
            to = std::copy(from, from + n, to);
        else
            encode(after, to);
        from += n;
    }

  private:
    uint32_t look_up(uint32_t c) const { return c < size_ ? table_[c] : c << 2; }

    static uint32_t code_point(const char *p) {
        const auto lead = static_cast<uint8_t>(*p);
        auto tail = [p](int i) { return static_cast<uint32_t>(p[i] & 0x3F); };
        if (lead < 0x80) return lead;
        if (lead < 0xE0) return (lead & 0x1Fu) << 6 | tail(1);
        if (lead < 0xF0) return (lead & 0x0Fu) << 12 | tail(1) << 6 | tail(2);
        return (lead & 0x07u) << 18 | tail(1) << 12 | tail(2) << 6 | tail(3);
    }

    static void encode(uint32_t c, char *&to) {
        const int tails = c < 0x80 ? 0 : c < 0x800 ? 1 : c < 0x10000 ? 2 : 3;
        constexpr uint32_t lead[] = {0x00, 0xC0, 0xE0, 0xF0};
        *to++ = static_cast<char>(lead[tails] | c >> 6 * tails);
        for (int i = tails - 1; i >= 0; --i) *to++ = static_cast<char>(0x80 | (c >> 6 * i & 0x3F));
    }

    const uint32_t *table_;
    size_t size_;
    char folded_[0x80];
    char word_[0x100] = {};
};

// The words or characters of a text, one after another, so that an n-gram is a slice. Lives from text to text.
class Parts {
  public:
    size_t size() const { return start_.size(); }
    std::string_view slice(size_t first, size_t last) const {
        return {bytes_.data() + start_[first], end_[last] - start_[first]};
    }

    // Makes room for the parts of a text of so many bytes; the parts are written from the pointer it returns.
    char *clear(size_t bytes) {
        // Folding adds half at most, two spaces go around a word, and a Key reads eight bytes from any place.
        if (bytes_.size() < 2 * bytes + 16) bytes_.resize(2 * bytes + 16);
        start_.clear();
        end_.clear();
        return bytes_.data();
    }
    void add(const char *start, const char *end) {
        start_.push_back(static_cast<size_t>(start - bytes_.data()));
        end_.push_back(static_cast<size_t>(end - bytes_.data()));
    }

  private:
    std::vector<char> bytes_;
    std::vector<size_t> start_, end_;
};

// Adds the word that was written at [start, end) unless it is a stop word; returns where the next one begins.
inline char *add_word(const StringTable &stop, char *start, char *end, Parts &words) {
    if (stop.size() > 0 && stop.find(Key::padded({start, static_cast<size_t>(end - start)})) >= 0) return start;
    words.add(start, end);
    *end = ' ';
    return end + 1;
}

// Runs of word characters that are long enough.
inline void find_words(std::string_view text, const Analysis &how, const Alphabet &alphabet, Parts &words) {
    const char *p = text.data(), *const text_end = p + text.size();
    for (char *start = words.clear(text.size()); p < text_end;) {
        char *end = start;
        int length = 0;
        for (; p < text_end; ++length) {
            if (const char c = alphabet.word(p)) {
                *end++ = c;
                ++p;
            } else if (!Alphabet::is_ascii(p) && alphabet.in_word(p)) {
                alphabet.copy(p, end);
            } else {
                break;
            }
        }
        if (length >= how.token_length) start = add_word(how.stop, start, end, words);
        if (p < text_end) p += Alphabet::width(p);
    }
}

inline void split_words(std::string_view text, const Analysis &how, Parts &words) {
    char *start = words.clear(text.size());
    while (!text.empty()) {
        const size_t length = text.find(word_end);
        if (length == text.npos) throw std::invalid_argument("a given word lacks its end");
        start = add_word(how.stop, start, std::copy(text.begin(), text.begin() + length, start), words);
        text.remove_prefix(length + 1);
    }
}

// The characters of the text; two or more white spaces in a row become one space.
inline void find_characters(std::string_view text, const Alphabet &alphabet, Parts &characters) {
    char *start = characters.clear(text.size());
    for (const char *p = text.data(), *const text_end = p + text.size(); p < text_end;) {
        const bool space = alphabet.is_space(p);
        char *end = start;
        alphabet.copy(p, end);
        if (space && p < text_end && alphabet.is_space(p)) {
            *start = ' ';
            end = start + 1;
            while (p < text_end && alphabet.is_space(p)) p += Alphabet::width(p);
        }
        characters.add(start, end);
        start = end;
    }
}

// The characters of the next word between white spaces, with a space on either side; moves p behind the word.
inline void find_padded_word(const char *&p, const char *text_end, const Alphabet &alphabet, Parts &characters) {
    while (p < text_end && alphabet.is_space(p)) p += Alphabet::width(p);
    char *start = characters.clear(static_cast<size_t>(text_end - p));
    if (p == text_end) return;
    auto pad = [&] {
        *start = ' ';
        characters.add(start, start + 1);
        ++start;
    };
    pad();
    while (p < text_end && !alphabet.is_space(p)) {
        char *end = start;
        alphabet.copy(p, end);
        characters.add(start, end);
        start = end;
    }
    pad();
}

template <typename Use>
void each_slice(const Analysis &how, const Parts &parts, Use use) {
    const auto longest = std::min<size_t>(how.longest, parts.size());
    for (size_t n = how.shortest; n <= longest; ++n)
        for (size_t i = 0; i + n <= parts.size(); ++i) use(parts.slice(i, i + n - 1));
}

// Calls use(term) for every occurrence of a term in the text.
template <typename Use>
void each_term(std::string_view text, const Analysis &how, const Alphabet &alphabet, Parts &parts, Use use) {
    if (how.kind == Kind::word) {
        how.token_length > 0 ? find_words(text, how, alphabet, parts) : split_words(text, how, parts);
        each_slice(how, parts, use);
    } else if (how.kind == Kind::character) {
        find_characters(text, alphabet, parts);
        each_slice(how, parts, use);
    } else {
        for (const char *p = text.data(), *const text_end = p + text.size(); p < text_end;) {
            find_padded_word(p, text_end, alphabet, parts);
            each_slice(how, parts, use);
            // A word shorter than the n-grams counts once, whole.
            const size_t size = parts.size();
            if (0 < size && size < static_cast<size_t>(how.shortest)) use(parts.slice(0, size - 1));
        }
    }
}

}  // namespace treetop
