/* What an answer has beside its visible text, as typed parts. tier_piece.raw_delta is the choice
 * object of a stream's delta in OpenAI's form. Everybody between a tier and api/wire works on its
 * parts, and only openai_delta.c knows what its members are called.
 *
 * Plain data, one owner, one thread. */
#ifndef TIER_OPENAI_DELTA_H
#define TIER_OPENAI_DELTA_H

#include "base/json/json.h"

enum delta_part_kind {
    DELTA_OTHER, /* a value that is handed on as it came */
    DELTA_TEXT,  /* continues the text `name`: reasoning, a refusal, a server's own text */
    DELTA_CALL,  /* begins or continues a tool call */
    DELTA_ENTRY, /* an object of the list `name`, which may continue one with its number */
};

/* OpenAI allows 128 tools; more calls than tools in one answer is a broken peer. */
#define DELTA_CALLS_MAX 128
/* In place of a number: the only call of an answer in OpenAI's form before 2023-11. */
#define DELTA_OLD_CALL UINT32_MAX
/* The number of an entry that is whole. */
#define DELTA_NO_NUMBER UINT32_MAX

struct delta_part {
    enum delta_part_kind kind;
    const char *name;         /* of the member; NULL for a call */
    const struct json *value; /* as it came; NULL for a part that is made here */
    struct td_str text;       /* DELTA_TEXT, and what continues a DELTA_ENTRY */
    const char *member;       /* DELTA_ENTRY: that has the text; NULL = none has */
    struct td_str type;       /* DELTA_ENTRY that is made here: its type, or empty */
    uint32_t call;            /* DELTA_CALL: the call's number, from 0; DELTA_ENTRY: its number */
    bool custom;              /* DELTA_CALL: of a custom tool, whose arguments are any text */
    struct td_str id;         /* of a call that is made here and begins; else empty */
    struct td_str function;   /* the name of the call's function, whole; may be empty */
    struct td_str arguments;  /* continues the call's arguments, a text of JSON; may be empty */
};

/* Whether the delta has nothing beside text and thoughts, so that another model can write on.
 * NULL: it has not. */
bool openai_delta_is_text(const struct json *raw_delta);

struct delta_reader {
    const struct json *delta;
    void *member;            /* where the walk is */
    const struct json *list; /* in a member that is a list of objects */
    const char *list_name;   /* NULL = of calls */
    size_t next;             /* in it */
};

/* raw_delta: a piece's; NULL has no parts. **borrows** it until the last part is done with. */
void openai_delta_read(struct delta_reader *reader, const struct json *raw_delta);
/* The next part, in the order of the delta; false at the end. Nulls are left out. */
bool openai_delta_next(struct delta_reader *reader, struct delta_part *out);

/* Whether each call of the delta has a number below DELTA_CALLS_MAX, or none and its place. */
bool openai_delta_numbered(const struct json *delta);

/* The bytes of all texts in a part. */
size_t openai_delta_bytes(const struct delta_part *part);
/* Adds the bytes that a piece's raw_delta has beside its text: of calls, which are the answer, and
 * of what stands beside it, such as reasoning. */
void openai_delta_measure(const struct json *raw_delta, uint64_t *answer_bytes,
                          uint64_t *beside_bytes);

/* Begins as {0}. */
struct delta_writer {
    struct json *delta;
    struct json *list; /* to which the last part was added; of delta */
    const char *list_name;
};

/* Adds a part. A part that came keeps its value; only its texts are those of `part`. **borrows**
 * its name until the next part. */
void openai_delta_put(struct delta_writer *writer, const struct delta_part *part);
/* Ends the writer. Returns a piece's raw_delta with the parts, or NULL when there is nothing in it.
 * like: the raw_delta whose other members (its log-probabilities) are taken over; may be NULL.
 * **returns new** (json_free). */
struct json *openai_delta_end(struct delta_writer *writer, const struct json *like);

/* The raw_delta of a completion's piece. **takes** logprobs; **returns new** (json_free). NULL when
 * logprobs is NULL. */
struct json *openai_delta_logprobs(struct json *logprobs);

#endif
