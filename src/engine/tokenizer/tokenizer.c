/* Text to ids and back. Special tokens are cut out of the text first: at each place the longest
 * one, as Hugging Face's tokenizers do. The text between two special tokens is tokenised as one,
 * even where it runs from a template's mark into a message, so the ids are those of the whole
 * rendered prompt. The kinds of vocabulary are in tokenizer_merge.c and wordpiece.c. */
#include "engine/tokenizer/tokenizer_internal.h"

#include "base/core/assertion.h"
#include "base/core/error.h"
#include "engine/tokenizer/wordpiece.h"

/* Spaces become three bytes and positions are 32 bits wide. */
#define TEXT_BYTES_MAX ((size_t)1 << 30)

struct encoder {
    const struct tokenizer *tokenizer;
    struct merger merger;
    struct td_str text;
    size_t raw_begin;   /* text from here on is not encoded yet */
    bool after_special; /* or at the start: SentencePiece puts a space before the next text */
    bool ok;
};

static bool emit_piece(void *context, struct td_str piece)
{
    return merger_encode_byte_level(context, piece);
}

static void flush_raw(struct encoder *encoder, size_t end)
{
    struct td_str raw = str_slice(encoder->text, encoder->raw_begin, end);
    if (!encoder->ok || raw.len == 0 || encoder->raw_begin >= end)
        return;
    const struct tokenizer *t = encoder->tokenizer;
    encoder->ok = t->wordpiece ? wordpiece_encode(t, raw, encoder->merger.ids)
                  : t->sentencepiece
                      ? merger_encode_sentencepiece(&encoder->merger, raw,
                                                    t->space_prefix && encoder->after_special)
                      : pretokenizer_split(t->pre, raw, emit_piece, &encoder->merger);
    encoder->after_special = false;
    encoder->raw_begin = end;
}

static const struct token *special_token(const struct tokenizer *t, uint32_t index)
{
    return &t->tokens[t->specials[index]];
}

/* The specials *low..*high have the same first `depth` bytes. Narrows the range to those whose next
 * byte is `byte`. */
static void narrow(const struct tokenizer *t, uint32_t *low, uint32_t *high, size_t depth,
                   unsigned char byte)
{
    uint32_t ends[2];
    for (unsigned side = 0; side < 2; side++) {
        uint32_t a = *low, b = *high;
        while (a < b) {
            uint32_t middle = a + (b - a) / 2;
            if ((unsigned char)special_token(t, middle)->text[depth] < byte + side)
                a = middle + 1;
            else
                b = middle;
        }
        ends[side] = a;
    }
    *low = ends[0];
    *high = ends[1];
}

/* Returns the id of the longest special token at text[at..end), or -1. */
static int32_t special_at(const struct tokenizer *t, struct td_str text, size_t at, size_t end,
                          bool parse_special)
{
    unsigned char first = (unsigned char)text.data[at];
    uint32_t low = t->special_first[first], high = t->special_first[first + 1];
    int32_t found = -1;
    for (size_t depth = 1; low < high; depth++) {
        for (; low < high && special_token(t, low)->len == depth; low++)
            if (parse_special || special_token(t, low)->type == TOKEN_USER_DEFINED)
                found = (int32_t)t->specials[low];
        if (at + depth >= end)
            break;
        narrow(t, &low, &high, depth, (unsigned char)text.data[at + depth]);
    }
    return found;
}

static bool is_c_space(char c)
{
    return c == ' ' || (c >= '\t' && c <= '\r');
}

static void append_special(struct encoder *encoder, int32_t id)
{
    buf_append(encoder->merger.ids, &id, sizeof(id));
    encoder->ok = encoder->ok && !encoder->merger.ids->failed;
    encoder->after_special = true;
}

static void encode_span(struct encoder *encoder, size_t begin, size_t end, bool parse_special)
{
    const struct tokenizer *t = encoder->tokenizer;
    for (size_t at = begin > encoder->raw_begin ? begin : encoder->raw_begin;
         encoder->ok && at < end;) {
        int32_t id = special_at(t, encoder->text, at, end, parse_special);
        if (id < 0) {
            at++;
            continue;
        }
        flush_raw(encoder, at);
        if (!encoder->ok)
            return;
        append_special(encoder, id);
        at += t->tokens[id].len;
        if (t->tokens[id].strip_right)
            while (at < encoder->text.len && is_c_space(encoder->text.data[at]))
                at++;
        encoder->raw_begin = at;
    }
}

static enum td_status encode(const struct tokenizer *tokenizer, struct td_str text,
                             const struct text_segment *segments, size_t segment_count,
                             const struct tokenizer_options *options, struct buf *ids,
                             struct td_error *err)
{
    bool add_special = options->add_special;
    ASSERT(tokenizer != NULL);
    ASSERT(text.data != NULL || text.len == 0);
    ASSERT(ids->len % sizeof(int32_t) == 0);
    if (text.len > TEXT_BYTES_MAX)
        return error_set(err, TD_LIMIT, "a text of %zu bytes; at most %zu can be tokenised",
                         text.len, TEXT_BYTES_MAX);
    struct encoder encoder = {.tokenizer = tokenizer,
                              .merger = {.tokenizer = tokenizer, .ids = ids},
                              .text = text,
                              .after_special = !options->goes_on,
                              .ok = !ids->failed};
    if (add_special && tokenizer->adds_bos && tokenizer->bos >= 0)
        append_special(&encoder, tokenizer->bos);
    for (size_t i = 0; i < segment_count; i++)
        encode_span(&encoder, segments[i].begin, segments[i].end, segments[i].mark);
    flush_raw(&encoder, text.len);
    if (encoder.ok && add_special && tokenizer->adds_eos && tokenizer->eos >= 0)
        append_special(&encoder, tokenizer->eos);
    bool out_of_memory = encoder.merger.out_of_memory;
    merger_deinit(&encoder.merger);
    if (encoder.ok)
        return TD_OK;
    if (out_of_memory || ids->bytes_max - ids->len >= sizeof(int32_t))
        return error_set(err, TD_NO_MEMORY, "no memory to tokenise %zu bytes", text.len);
    return error_set(err, TD_LIMIT, "the text has more than %zu tokens",
                     ids->bytes_max / sizeof(int32_t));
}

enum td_status tokenizer_encode(const struct tokenizer *tokenizer, struct td_str text,
                                const struct tokenizer_options *options, struct buf *ids,
                                struct td_error *err)
{
    struct text_segment whole = {0, text.len, options->parse_special};
    return encode(tokenizer, text, &whole, 1, options, ids, err);
}

enum td_status tokenizer_encode_segments(const struct tokenizer *tokenizer, struct td_str text,
                                         const struct text_segment *segments, size_t segment_count,
                                         bool add_special, struct buf *ids, struct td_error *err)
{
    size_t covered = 0;
    for (size_t i = 0; i < segment_count; i++) {
        if (segments[i].begin != covered || segments[i].end < covered || segments[i].end > text.len)
            return error_set(err, TD_INVALID, "segment %zu does not continue the one before", i);
        covered = segments[i].end;
    }
    if (covered != text.len)
        return error_set(err, TD_INVALID, "the segments cover %zu of %zu bytes", covered, text.len);
    const struct tokenizer_options options = {.add_special = add_special};
    return encode(tokenizer, text, segments, segment_count, &options, ids, err);
}

static bool id_is_valid(const struct tokenizer *tokenizer, int32_t id)
{
    return id >= 0 && (uint32_t)id < tokenizer->count;
}

struct td_str tokenizer_piece(const struct tokenizer *tokenizer, int32_t id, bool special)
{
    if (!id_is_valid(tokenizer, id))
        return (struct td_str){"", 0};
    uint8_t type = tokenizer->tokens[id].type;
    if (!special && (type == TOKEN_CONTROL || type == TOKEN_UNKNOWN))
        return (struct td_str){"", 0};
    uint32_t begin = tokenizer->piece_offsets[id];
    return (struct td_str){tokenizer->pieces + begin, tokenizer->piece_offsets[id + 1] - begin};
}

void tokenizer_decode(const struct tokenizer *tokenizer, const int32_t *ids, size_t count,
                      bool special, struct buf *out)
{
    ASSERT(ids != NULL || count == 0);
    bool drop_space = tokenizer->space_prefix;
    for (size_t i = 0; i < count; i++) {
        struct td_str piece = tokenizer_piece(tokenizer, ids[i], special);
        if (piece.len == 0)
            continue;
        if (drop_space && piece.data[0] == ' ')
            piece = str_slice(piece, 1, piece.len);
        drop_space = false;
        buf_append_str(out, piece);
    }
}

uint32_t tokenizer_count(const struct tokenizer *tokenizer)
{
    return tokenizer->count;
}

int32_t tokenizer_bos(const struct tokenizer *tokenizer)
{
    return tokenizer->bos;
}

int32_t tokenizer_eos(const struct tokenizer *tokenizer)
{
    return tokenizer->eos;
}

bool tokenizer_adds_bos(const struct tokenizer *tokenizer)
{
    return tokenizer->adds_bos && tokenizer->bos >= 0;
}

bool tokenizer_is_end(const struct tokenizer *tokenizer, int32_t id)
{
    return id_is_valid(tokenizer, id) && tokenizer->tokens[id].is_end;
}

int32_t tokenizer_find(const struct tokenizer *tokenizer, struct td_str text)
{
    if (text.len == 0)
        return -1;
    return tokenizer_find_hashed(tokenizer, text.data, text.len,
                                 text_hash(text.data, text.len, HASH_FNV1A64_BASIS));
}
