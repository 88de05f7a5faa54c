/* WordPiece, with the steps of BERT's BasicTokenizer and WordpieceTokenizer (Devlin et al. 2018,
 * the code of the paper, tokenization.py):
 *
 *   clean     U+0000, U+FFFD, control and format characters vanish; white space separates words
 *   CJK       an ideograph is a word of its own
 *   accents   canonical decomposition, whose marks (category Mn) vanish   (strip_accents)
 *   case      lower case, a character at a time                           (lowercase)
 *   words     a punctuation character is a word of its own
 *   pieces    at each place of a word the longest piece; where none fits, the whole word is [UNK]
 *
 * A word passes through a buffer of fixed size. A longer word is [UNK] without a search, as in the
 * reference; this also bounds the quadratic search. GGUF files put U+2581 before the first piece of
 * a word and nothing before later ones. Older files keep BERT's own spelling: nothing before the
 * first piece, ## before later ones. */
#include "engine/tokenizer/wordpiece.h"

#include "base/core/assertion.h"
#include "base/text/unicode.h"

#define WORD_CHARACTERS_MAX 100 /* max_input_chars_per_word of the reference */
#define WORD_MARK_BYTES 3       /* room before the word for U+2581 or ## */
#define WORD_BYTES_MAX (WORD_CHARACTERS_MAX * 4)

struct word {
    const struct tokenizer *tokenizer;
    struct buf *ids;
    char bytes[WORD_MARK_BYTES + WORD_BYTES_MAX];
    /* Where each character ends in `bytes`; [0] = where the first begins. */
    uint32_t ends[WORD_CHARACTERS_MAX + 1];
    uint32_t character_count; /* may exceed the limit: the word is then [UNK] */
};

static void append_id(struct word *word, int32_t id)
{
    buf_append(word->ids, &id, sizeof(id));
}

/* Finds the longest token that is `mark` and then characters from `first` on. *next is the
 * character after it. The mark overwrites the characters before, which are matched already. */
static int32_t longest_piece(struct word *word, uint32_t first, struct td_str mark, uint32_t *next)
{
    uint64_t hashes[WORD_CHARACTERS_MAX + 1];
    uint32_t begin = word->ends[first] - (uint32_t)mark.len;
    memcpy(word->bytes + begin, mark.data, mark.len);
    hashes[first] = text_hash(mark.data, mark.len, HASH_FNV1A64_BASIS);
    for (uint32_t i = first; i < word->character_count; i++)
        hashes[i + 1] =
            text_hash(word->bytes + word->ends[i], word->ends[i + 1] - word->ends[i], hashes[i]);
    for (uint32_t i = word->character_count; i > first; i--) {
        int32_t id = tokenizer_find_plain(word->tokenizer, word->bytes + begin,
                                          word->ends[i] - begin, hashes[i]);
        if (id >= 0) {
            *next = i;
            return id;
        }
    }
    return -1;
}

static void end_word(struct word *word)
{
    const struct tokenizer *t = word->tokenizer;
    uint32_t count = word->character_count;
    if (count == 0)
        return;
    static const struct td_str space = {"\xE2\x96\x81", 3}, hashes = {"##", 2}, none = {"", 0};
    size_t len_before = word->ids->len;
    bool known = count <= WORD_CHARACTERS_MAX;
    for (uint32_t at = 0; known && at < count;) {
        /* U+2581 in the text would be read as the mark of a first piece */
        bool spells_mark = at > 0 && !t->hash_marks &&
                           memcmp(word->bytes + word->ends[at], space.data, space.len) == 0;
        struct td_str mark = at == 0         ? (t->hash_marks ? none : space)
                             : t->hash_marks ? hashes
                                             : none;
        int32_t id = spells_mark ? -1 : longest_piece(word, at, mark, &at);
        known = id >= 0;
        if (known)
            append_id(word, id);
    }
    if (!known) {
        if (!word->ids->failed)
            word->ids->len = len_before;
        append_id(word, t->unknown);
    }
    word->character_count = 0;
}

static void add_character(struct word *word, uint32_t code_point)
{
    if (word->character_count == 0)
        word->ends[0] = WORD_MARK_BYTES;
    uint32_t index = word->character_count;
    if (index >= WORD_CHARACTERS_MAX) {
        word->character_count = WORD_CHARACTERS_MAX + 1;
        return;
    }
    uint32_t begin = word->ends[index];
    word->ends[index + 1] = begin + (uint32_t)utf8_encode(code_point, word->bytes + begin);
    word->character_count++;
}

static void add_word_of_one(struct word *word, uint32_t code_point)
{
    end_word(word);
    add_character(word, code_point);
    end_word(word);
}

static bool is_ascii_punctuation(uint32_t c)
{
    return (c >= '!' && c <= '/') || (c >= ':' && c <= '@') || (c >= '[' && c <= '`') ||
           (c >= '{' && c <= '~');
}

/* The blocks that the reference names: ideographs, not kana or Hangul, whose words have spaces. */
static bool is_ideograph(uint32_t c)
{
    return (c >= 0x4E00 && c <= 0x9FFF) || (c >= 0x3400 && c <= 0x4DBF) ||
           (c >= 0x20000 && c <= 0x2A6DF) || (c >= 0x2A700 && c <= 0x2B73F) ||
           (c >= 0x2B740 && c <= 0x2B81F) || (c >= 0x2B820 && c <= 0x2CEAF) ||
           (c >= 0xF900 && c <= 0xFAFF) || (c >= 0x2F800 && c <= 0x2FA1F);
}

/* Adds a character without its accents and in lower case, as the vocabulary asks. */
static void add_normalised(struct word *word, uint32_t code_point, bool ideograph)
{
    const struct tokenizer *t = word->tokenizer;
    uint32_t parts[UNICODE_PARTS_MAX] = {code_point};
    size_t count = t->strips_accents ? unicode_decompose(code_point, parts) : 1;
    for (size_t i = 0; i < count; i++) {
        uint32_t part = parts[i];
        if (t->strips_accents && unicode_class_of(part) & UNICODE_MARK)
            continue;
        if (t->lowercases)
            part = unicode_lower(part);
        if (ideograph || is_ascii_punctuation(part) || unicode_class_of(part) & UNICODE_PUNCTUATION)
            add_word_of_one(word, part);
        else
            add_character(word, part);
    }
}

bool wordpiece_encode(const struct tokenizer *tokenizer, struct td_str text, struct buf *ids)
{
    ASSERT(tokenizer->wordpiece && tokenizer->unknown >= 0);
    struct word word = {.tokenizer = tokenizer, .ids = ids};
    for (size_t at = 0; at < text.len && !ids->failed;) {
        uint32_t c = utf8_next(text, &at); /* U+FFFD for a byte that is not UTF-8 */
        uint16_t classes = unicode_class_of(c);
        bool line_space = c == '\t' || c == '\n' || c == '\r';
        if (c == 0xFFFD || (classes & UNICODE_CONTROL && !line_space))
            continue;
        if (classes & UNICODE_SPACE)
            end_word(&word);
        else
            add_normalised(&word, c, is_ideograph(c));
    }
    end_word(&word);
    return !ids->failed;
}
