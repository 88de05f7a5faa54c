/* What the values of a structured answer say. An answer can have the form that was asked for and
 * hold nothing: every value null or empty, or, where something was to be extracted, none that the
 * request's text has. Such an answer is as sure of itself as any, because a grammar has written
 * most of it.
 *
 * The answer is read as it comes, with bounded memory. One value that says something settles it, so
 * a stream is not held back for longer than until then. One owner, one thread. */
#ifndef EXCHANGE_ANSWER_VALUES_H
#define EXCHANGE_ANSWER_VALUES_H

#include "request/request.h"

#define ANSWER_VALUE_BYTES 128 /* of one value; a longer one says something */

enum answer_fault {
    ANSWER_SOUND,    /* or there is nothing to judge */
    ANSWER_EMPTY,    /* no value but null, "", [] and the like */
    ANSWER_INVENTED, /* no value that the request has, where it asks to extract */
};

struct answer_values {
    const struct td_request *request; /* borrowed; NULL: the answer is not judged */
    bool extracts;                    /* the request asks for what its text says */
    /* Where the reading is. Bit d of `objects`: the container at depth d is an object. */
    uint64_t objects;
    uint8_t depth, escape;
    bool in_string, is_key, is_fresh; /* is_fresh: nothing has come since the bracket */
    uint32_t escaped;                 /* of \uXXXX, as far as it is read */
    char value[ANSWER_VALUE_BYTES];
    size_t value_len; /* ANSWER_VALUE_BYTES + 1: too long */
    /* What was found. */
    uint32_t empty_count, invented_count;
    bool says; /* a value says something: nothing more is read */
};

/* request: NULL judges nothing; it is **borrowed** until the last judgement. */
void answer_values_init(struct answer_values *values, const struct td_request *request);
/* The answer's next text. */
void answer_values_add(struct answer_values *values, struct td_str text);
/* Of what has come so far. */
enum answer_fault answer_values_judge(const struct answer_values *values);
/* Ends the sentence "its answer says nothing: ". */
const char *answer_fault_text(enum answer_fault fault);
/* Whether more of the answer may still change the judgement. */
bool answer_values_open(const struct answer_values *values);

#endif
