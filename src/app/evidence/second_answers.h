/* A second signal of an answer (router/judge/second_signal.h), asked of a model as a server asks
 * it, for `tandem calibrate`. */
#ifndef APP_SECOND_ANSWERS_H
#define APP_SECOND_ANSWERS_H

#include "router/judge/second_signal.h"
#include "tandem/engine.h"

struct json;

struct second_question {
    const struct td_model *model;
    struct td_session *session; /* its positions are replaced */
    const struct json *line;    /* with "prompt" or "messages" (cli/prompt_line.h) */
    struct td_str answer;
    enum second_by by;
    uint32_t samples;
};

TD_MUST_CHECK enum td_status second_answers_ask(const struct second_question *question, double *out,
                                                struct td_error *err);

#endif
