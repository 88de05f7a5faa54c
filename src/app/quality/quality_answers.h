/* The answers of one model to the prompts of an evaluation, and which of them differ. */
#ifndef APP_QUALITY_ANSWERS_H
#define APP_QUALITY_ANSWERS_H

#include "app/quality/quality_cases.h"

struct quality_answer {
    char *text; /* [len], not NUL-terminated */
    size_t len;
    int32_t *ids; /* the prompt's, then the answer's */
    size_t id_count;
    size_t label; /* SIZE_MAX = it was generated */
    bool was_cut;
    bool is_right; /* where the line says what is right */
};

struct quality_answers {
    struct quality_answer *items;
    size_t count;
};

/* Room for the answers to these prompts. **returns new** (quality_answers_deinit). */
TD_MUST_CHECK enum td_status quality_answers_init(struct quality_answers *answers, size_t count,
                                                  struct td_error *err);
void quality_answers_deinit(struct quality_answers *answers);
/* The session's context has room for the prompt and tokens_max more. */
TD_MUST_CHECK enum td_status quality_answer_ask(struct td_session *session,
                                                const struct td_model *model,
                                                const struct quality_case *item,
                                                uint32_t tokens_max, struct quality_answer *out,
                                                struct td_error *err);
/* Is b another answer than a? */
bool quality_answer_differs(const struct quality_answer *a, const struct quality_answer *b);

#endif
