/* POST /v1/completions: texts to go on with. One request has up to COMPLETION_CHOICES_MAX choices
 * (n for each prompt), and each choice is an exchange of its own with a body of its own, so that
 * a server that completes sees one prompt and n = 1. */
#ifndef API_COMPLETION_REQUEST_H
#define API_COMPLETION_REQUEST_H

#include "api/wire/openai_request.h"
#include "tandem/engine.h"

#define COMPLETION_CHOICES_MAX 256

struct completion_prompt {
    struct td_completion completion;
    struct td_message message; /* the same text */
};

struct completion_request {
    struct chat_request common;        /* all but the prompts */
    struct completion_prompt *prompts; /* [prompt_count], in the arena */
    size_t prompt_count;
    uint32_t n; /* choices of each prompt */
};

/* As openai_request_parse; model: whose token ids prompts may be, or NULL. */
bool completion_request_parse(struct td_str body, const struct td_model *model, struct arena *arena,
                              struct completion_request *out, struct fault *fault);
/* The request of one choice; *body **returns new** (json_free) and is borrowed by *out, as is the
 * request. False without memory. */
bool completion_request_choice(const struct completion_request *request, size_t index,
                               struct td_request *out, struct json **body);
void completion_request_deinit(struct completion_request *request);

#endif
