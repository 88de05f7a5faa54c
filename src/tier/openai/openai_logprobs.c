/* Builds the log-probability arrays of OpenAI's completions. The difficulty is text_offset: it
 * counts characters, while a token may end inside one. So the state carries the unfinished bytes of
 * the last character from token to token, and counts a character where it begins. */
#include "tier/openai/openai_logprobs.h"

#include "base/core/assertion.h"
#include "base/core/str.h"
#include "base/text/utf8.h"

#include <math.h>
#include <stdio.h>

/* OpenAI's number for "practically impossible", because JSON has no infinity. */
#define LOGPROB_LEAST (-9999.0)
#define TOKEN_NAME_BYTES 1024

/* Characters as they are sent: each byte that is not valid UTF-8 becomes a U+FFFD. */
static uint32_t count_characters(struct td_str text)
{
    uint32_t count = 0;
    for (size_t at = 0; at < text.len; count++)
        (void)utf8_next(text, &at);
    return count;
}

/* Moves on by a token's text, which may end inside a character. Returns the offset of the character
 * in which the token begins; all tokens that spell one character have the same offset. */
static uint32_t advance(struct openai_logprobs *state, struct td_str text)
{
    char seam[sizeof state->partial + 4]; /* enough to see what the partial bytes become */
    size_t before = state->partial_len, taken = text.len < 4 ? text.len : 4, at = 0;
    memcpy(seam, state->partial, before);
    memcpy(seam + before, taken ? text.data : "", taken);
    struct td_str joint = {seam, before + taken};
    size_t whole = utf8_complete_len(joint);
    uint32_t begins_in = state->offset;
    while (at < before && at < whole) {
        (void)utf8_next(joint, &at);
        state->offset++;
        if (at <= before)
            begins_in = state->offset;
    }
    struct td_str rest =
        at < before ? str_slice(joint, at, joint.len) : str_slice(text, at - before, text.len);
    whole = utf8_complete_len(rest);
    state->offset += count_characters(str_slice(rest, 0, whole));
    state->partial_len = (uint8_t)(rest.len - whole);
    memcpy(state->partial, rest.len ? rest.data + whole : "", state->partial_len);
    return begins_in;
}

/* How a token is written in `tokens` and as a member of `top_logprobs`: its text, or its bytes. */
static struct td_str name_of(struct td_str text, char out[static TOKEN_NAME_BYTES])
{
    size_t used = 6;
    if (utf8_is_valid(text) && !memchr(text.data ? text.data : "", 0, text.len))
        return text;
    memcpy(out, "bytes:", used);
    for (size_t i = 0; i < text.len && used + 5 < TOKEN_NAME_BYTES; i++)
        used += (size_t)snprintf(out + used, TOKEN_NAME_BYTES - used, "\\x%02x",
                                 (unsigned)(unsigned char)text.data[i]);
    return (struct td_str){out, used};
}

static struct json *number_of(float logprob)
{
    return json_new_double(isfinite(logprob) ? (double)logprob : LOGPROB_LEAST);
}

/* Tokens come likeliest first, so of two with the same text the first one stays. */
static void put_alternative(struct json *object, struct td_str text, float logprob)
{
    char bytes[TOKEN_NAME_BYTES], key[TOKEN_NAME_BYTES];
    struct td_str name = str_slice(name_of(text, bytes), 0, sizeof key - 1);
    memcpy(key, name.data ? name.data : "", name.len);
    key[name.len] = '\0';
    if (!json_get(object, key))
        json_put(object, key, number_of(logprob));
}

struct row {
    struct td_str text;  /* as the text has it */
    struct td_str piece; /* as the vocabulary has it; alternatives are written like this */
    float logprob;
    const struct td_top_logprob *top;
    size_t top_count;
};

/* The parallel arrays of the object. */
struct columns {
    struct json *tokens, *logprobs, *top, *offsets;
};

static struct columns columns_new(void)
{
    return (struct columns){json_new_array(), json_new_array(), json_new_array(), json_new_array()};
}

static struct json *columns_finish(struct columns *columns)
{
    struct json *object = json_new_object();
    json_put(object, "tokens", columns->tokens);
    json_put(object, "token_logprobs", columns->logprobs);
    json_put(object, "top_logprobs", columns->top);
    json_put(object, "text_offset", columns->offsets);
    return object;
}

/* first: the first token of a text has no probability, because nothing stands before it. */
static void add_row(struct openai_logprobs *state, struct columns *to, const struct row *row,
                    bool first)
{
    char bytes[TOKEN_NAME_BYTES];
    struct json *top = NULL;
    if (!first && state->top_count > 0)
        top = json_new_object();
    for (size_t i = 0; top && i < row->top_count && i < state->top_count; i++)
        put_alternative(top, td_token_piece(state->model, row->top[i].id, true),
                        row->top[i].logprob);
    if (top)
        put_alternative(top, row->piece, row->logprob);
    json_push(to->tokens, json_new_text(name_of(row->piece, bytes)));
    json_push(to->logprobs, first ? json_new_null() : number_of(row->logprob));
    json_push(to->top, top ? top : json_new_null());
    json_push(to->offsets, json_new_int(advance(state, row->text)));
}

/* How the text writes a token: its piece, its piece without the leading space of SentencePiece, or
 * nothing (BOS). */
static struct td_str find_in_text(struct td_str text, size_t at, struct td_str piece)
{
    struct td_str rest = str_slice(text, at, text.len);
    if (str_starts_with(rest, piece))
        return piece;
    if (at == 0 && piece.len > 0 && piece.data[0] == ' ' &&
        str_starts_with(rest, str_slice(piece, 1, piece.len)))
        return str_slice(piece, 1, piece.len);
    return (struct td_str){NULL, 0};
}

struct json *openai_logprobs_prompt(struct openai_logprobs *state, const struct text_prompt *prompt)
{
    ASSERT(prompt->count == 0 || (prompt->ids != NULL && prompt->scores != NULL));
    struct columns out = columns_new();
    size_t at = 0;
    for (size_t i = 0; i < prompt->count; i++) {
        const struct prompt_score *score = &prompt->scores[i];
        struct td_str piece = td_token_piece(state->model, prompt->ids[i], true);
        struct row row = {.text = find_in_text(prompt->text, at, piece),
                          .piece = piece,
                          .logprob = score->logprob,
                          .top = score->top,
                          .top_count = score->top_count};
        at += row.text.len;
        add_row(state, &out, &row, i == 0);
    }
    state->offset = count_characters(prompt->text); /* the prompt is sent apart from the answer */
    state->partial_len = 0;
    return columns_finish(&out);
}

void openai_logprobs_skip(struct openai_logprobs *state, struct td_str text)
{
    state->offset += count_characters(text);
}

struct json *openai_logprobs_token(struct openai_logprobs *state, const struct td_token *token)
{
    ASSERT(state != NULL && token != NULL);
    struct columns out = columns_new();
    struct row row = {.text = token->piece,
                      .piece = td_token_piece(state->model, token->id, true),
                      .logprob = token->stats.logprob,
                      .top = token->top,
                      .top_count = token->top_count};
    add_row(state, &out, &row, false);
    return columns_finish(&out);
}
