/* The prompts of an evaluation: JSON lines with "prompt" or "messages" (as in a chat request), and
 *
 *   "task"     a name, by which results are also given
 *   "labels"   texts, of which the answer is one
 *   "answer"   what is right, with "check" where that says how (app/evidence/answer_check.h)
 *
 * Other members are passed over. */
#ifndef APP_QUALITY_CASES_H
#define APP_QUALITY_CASES_H

#include "tandem/engine.h"

struct json;

struct quality_case {
    struct json *line;
    int32_t *ids;           /* the prompt by the reference's template */
    size_t count;           /* of ids */
    struct td_str question; /* the last user message; borrowed from the line, like the next */
    struct td_str task;     /* len 0 = none */
    bool is_known;          /* the line says what is right */
};

struct quality_cases {
    struct quality_case *items;
    size_t count;
    size_t line_count; /* before a sample was taken */
    size_t long_count; /* left out: too long for the context */
};

struct quality_cases_options {
    struct td_str lines;
    const char *name;  /* names the lines in messages */
    size_t cases_max;  /* of more lines, these many are taken at equal distances */
    size_t tokens_max; /* of a prompt */
};

/* TD_INVALID names the line. quality_cases_deinit also after a failure. */
TD_MUST_CHECK enum td_status quality_cases_read(const struct td_model *model,
                                                const struct quality_cases_options *options,
                                                struct quality_cases *out, struct td_error *err);
void quality_cases_deinit(struct quality_cases *cases);

#endif
