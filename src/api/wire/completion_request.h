/* POST /v1/completions: texts to continue. One request has up to COMPLETION_CHOICES_MAX choices, n
 * for each prompt. Each choice is an exchange with members of its own, so a server that completes
 * sees one prompt and n = 1. */
#ifndef API_COMPLETION_REQUEST_H
#define API_COMPLETION_REQUEST_H

#include "api/wire/openai_request.h"
#include "request/request.h"
#include "tandem/engine.h"

#define COMPLETION_CHOICES_MAX 256

struct completion_request {
    struct chat_request common;    /* all but the prompts */
    struct td_completion *prompts; /* [prompt_count], in the arena */
    size_t prompt_count;
    uint32_t n; /* choices of each prompt */
};

/* As openai_request_parse; model: whose token ids prompts may be, or NULL. named: the model that
 * the path names, or "". */
bool completion_request_parse(struct td_str body, struct td_str named, const struct td_model *model,
                              struct arena *arena, struct completion_request *out,
                              struct fault *fault);
/* One choice's request, and what of it is not the whole request's. */
struct completion_choice {
    struct td_request td; /* borrows from here and from the whole request: not to be moved */
    struct td_completion completion;
    struct td_message message; /* the same text */
    struct request_member *members;
    struct json *prompt, *seed;
};

/* Fills *out (completion_choice_deinit); false without memory. */
bool completion_choice_init(const struct completion_request *request, size_t index,
                            struct completion_choice *out);
void completion_choice_deinit(struct completion_choice *choice);
void completion_request_deinit(struct completion_request *request);

#endif
