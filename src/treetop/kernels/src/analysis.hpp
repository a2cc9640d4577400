// From a text in UTF-8 to its terms: n-grams of words, of characters, or of the characters of each word.
#pragma once

#include <algorithm>
#include <cstdint>
#include <stdexcept>
#include <string_view>
#include <vector>

#include "string_table.hpp"

namespace treetop {

enum class Kind { word, character, word_characters };

struct Analysis {
    Kind kind;
    int shortest, longest;  // of the n-grams
    int token_length;       // characters a word has at least; 0: the words are given, each ended by the byte 0xFF
    bool fold;              // ASCII capitals to small letters; other letters arrive folded
    StringTable stop;       // words that are left out before n-grams are made
};

// What a character is, by code point; only ASCII (128 classes) if no text has anything else.
using Classes = const uint8_t *;
constexpr uint8_t in_word = 1, is_space = 2;
constexpr char word_end = '\xFF';  // occurs nowhere in UTF-8

// Buffers that live from text to text.
struct Scratch {
    std::vector<char> bytes;
    std::vector<size_t> start, end;  // of each word or character in `bytes`

    void clear() {
        bytes.clear();
        start.clear();
        end.clear();
    }
    std::string_view slice(size_t first, size_t last) const {
        return {bytes.data() + start[first], end[last] - start[first]};
    }
};

// Walks over the characters of a text; the text is valid UTF-8 because Python encoded it.
class Characters {
  public:
    Characters(std::string_view text, bool fold, Classes classes)
        : at_(text.data()), end_(text.data() + text.size()), fold_(fold), classes_(classes) {}

    bool more() const { return at_ < end_; }
    uint8_t kind() const {
        const uint8_t lead = static_cast<uint8_t>(*at_);
        return classes_[lead < 0x80 ? lead : code_point(lead)];
    }
    void append_to(std::vector<char> &bytes) const {
        if (fold_ && *at_ >= 'A' && *at_ <= 'Z')
            bytes.push_back(static_cast<char>(*at_ | 0x20));
        else
            bytes.insert(bytes.end(), at_, at_ + width());
    }
    void step() { at_ += width(); }

  private:
    int width() const {
        const uint8_t lead = static_cast<uint8_t>(*at_);
        return lead < 0x80 ? 1 : lead < 0xE0 ? 2 : lead < 0xF0 ? 3 : 4;
    }
    uint32_t code_point(uint8_t lead) const {
        auto tail = [this](int i) { return static_cast<uint32_t>(at_[i] & 0x3F); };
        if (lead < 0xE0) return (lead & 0x1Fu) << 6 | tail(1);
        if (lead < 0xF0) return (lead & 0x0Fu) << 12 | tail(1) << 6 | tail(2);
        return (lead & 0x07u) << 18 | tail(1) << 12 | tail(2) << 6 | tail(3);
    }

    const char *at_, *end_;
    bool fold_;
    Classes classes_;
};

// Words one after another with one space between, so that an n-gram of words is a slice.
class WordList {
  public:
    WordList(const Analysis &how, Scratch &out) : how_(how), out_(out) { out.clear(); }

    void begin() { out_.start.push_back(out_.bytes.size()); }
    void finish(bool keep) {
        const size_t from = out_.start.back(), to = out_.bytes.size();
        if (keep && how_.stop.size() > 0) keep = how_.stop.find({out_.bytes.data() + from, to - from}) < 0;
        if (keep) {
            out_.end.push_back(to);
            out_.bytes.push_back(' ');
        } else {
            out_.start.pop_back();
            out_.bytes.resize(from);
        }
    }

  private:
    const Analysis &how_;
    Scratch &out_;
};

// Runs of word characters that are long enough.
inline void find_words(Characters c, const Analysis &how, Scratch &out) {
    WordList words(how, out);
    while (c.more()) {
        if (!(c.kind() & in_word)) {
            c.step();
            continue;
        }
        int length = 0;
        words.begin();
        for (; c.more() && (c.kind() & in_word); c.step(), ++length) c.append_to(out.bytes);
        words.finish(length >= how.token_length);
    }
}

inline void split_words(std::string_view text, const Analysis &how, Scratch &out) {
    WordList words(how, out);
    while (!text.empty()) {
        const size_t length = text.find(word_end);
        if (length == text.npos) throw std::invalid_argument("a given word lacks its end");
        words.begin();
        out.bytes.insert(out.bytes.end(), text.begin(), text.begin() + length);
        words.finish(true);
        text.remove_prefix(length + 1);
    }
}

// The characters of the text; two or more white spaces in a row become one space.
inline void find_characters(Characters c, Scratch &out) {
    out.clear();
    while (c.more()) {
        out.start.push_back(out.bytes.size());
        const bool space = c.kind() & is_space;
        c.append_to(out.bytes);
        c.step();
        if (space && c.more() && (c.kind() & is_space)) {
            out.bytes.resize(out.start.back());
            out.bytes.push_back(' ');
            while (c.more() && (c.kind() & is_space)) c.step();
        }
        out.end.push_back(out.bytes.size());
    }
}

// The characters of the next word between white spaces, with a space on either side; false at the end of the text.
inline bool next_padded_word(Characters &c, Scratch &out) {
    while (c.more() && (c.kind() & is_space)) c.step();
    if (!c.more()) return false;
    out.clear();
    auto pad = [&out] {
        out.start.push_back(out.bytes.size());
        out.bytes.push_back(' ');
        out.end.push_back(out.bytes.size());
    };
    pad();
    for (; c.more() && !(c.kind() & is_space); c.step()) {
        out.start.push_back(out.bytes.size());
        c.append_to(out.bytes);
        out.end.push_back(out.bytes.size());
    }
    pad();
    return true;
}

template <typename Use>
void each_slice(const Analysis &how, const Scratch &parts, Use use) {
    const size_t count = parts.start.size();
    for (size_t n = how.shortest; n <= std::min<size_t>(how.longest, count); ++n)
        for (size_t i = 0; i + n <= count; ++i) use(parts.slice(i, i + n - 1));
}

// Calls use(term) for every occurrence of a term in the text.
template <typename Use>
void each_term(std::string_view text, const Analysis &how, Classes classes, Scratch &scratch, Use use) {
    Characters characters(text, how.fold, classes);
    if (how.kind == Kind::word) {
        how.token_length > 0 ? find_words(characters, how, scratch) : split_words(text, how, scratch);
        each_slice(how, scratch, use);
    } else if (how.kind == Kind::character) {
        find_characters(characters, scratch);
        each_slice(how, scratch, use);
    } else {
        while (next_padded_word(characters, scratch)) {
            each_slice(how, scratch, use);
            // A word shorter than the n-grams counts once, whole.
            if (scratch.start.size() < static_cast<size_t>(how.shortest)) use(scratch.slice(0, scratch.start.size() - 1));
        }
    }
}

}  // namespace treetop
