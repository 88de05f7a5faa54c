/* Items of a response's output, each made of one block of an answer (answer_blocks.h). Plain
 * functions; no thread state. */
#ifndef API_RESPONSES_OUTPUT_H
#define API_RESPONSES_OUTPUT_H

#include "api/dialects/answer_blocks.h"
#include "api/dialects/dialect.h"
#include "api/dialects/responses/responses_tools.h"

struct output_item {
    enum block_kind kind;
    size_t index;               /* in `output` */
    struct td_str call_id;      /* of a call */
    struct responses_tool tool; /* that it calls */
    struct td_str rest;         /* of a call: further members, each after a comma */
    struct td_str text;         /* so far, or a call's arguments */
    struct td_str logprobs;     /* of a text: entries of the list */
    struct td_str annotations;  /* likewise */
    bool is_summary;            /* of reasoning: the client asked for one */
};

void responses_output_write_id(const struct dialect_reply *reply, enum block_kind kind,
                               size_t index, struct buf *out);
/* The part of a message or of reasoning. */
void responses_output_write_part(const struct output_item *item, struct buf *out);
/* The text of a custom tool's call, as a string. */
void responses_output_write_input(const struct output_item *item, struct buf *out);
/* `name` and `namespace` of the tool, each after a comma. */
void responses_output_write_named(const struct output_item *item, struct buf *out);
/* has_part: a message has its part. It has none when the item is added. */
void responses_output_write(const struct dialect_reply *reply, const struct output_item *item,
                            const char *status, bool has_part, struct buf *out);
/* A chat's annotation as a response has it. */
void responses_output_write_annotation(const struct json *annotation, struct buf *out);
/* Further members of a call. NULL: none. */
void responses_output_write_rest(const struct grown *rest, struct buf *out);

/* Names of a kind's events, and the member of the last event that has the whole text. A call has no
 * parts. */
struct kind_row {
    const char *delta, *done, *member, *part_added, *part_done, *part_index;
};
/* is_summary: of reasoning, its summary. */
const struct kind_row *responses_output_kind(enum block_kind kind, bool is_summary);

#endif
