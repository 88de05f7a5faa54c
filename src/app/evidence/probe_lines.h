/* What a probe is trained from: lines of prompts and whether their answers were right, and the
 * states that a model has after each prompt. */
#ifndef APP_PROBE_LINES_H
#define APP_PROBE_LINES_H

#include "tandem/engine.h"

#define PROBE_LINES_MAX 1000000
/* Of states, all lines together. */
#define PROBE_STATES_BYTES_MAX ((size_t)4 << 30)

struct probe_input {
    uint32_t layer;
    bool last, mean; /* of the prompt's last token, over all its tokens; one at least */
};

struct probe_lines {
    float *states; /* [count, width]: the last token's, then the mean */
    bool *right;   /* [count] */
    size_t count, width, right_count;
};

struct probe_lines_options {
    const char *path;    /* names the lines in messages */
    struct td_str lines; /* a JSON object each */
    uint32_t threads;
};

/* A line has "right" (true or false), and "prompt" (a user's message) or "messages" (as in a chat
 * request); empty lines and other members are skipped. Runs each through the model's chat template.
 * TD_INVALID names `path` and the line. *out: probe_lines_deinit, also after a failure. */
TD_MUST_CHECK enum td_status probe_lines_read(const struct td_model *model,
                                              const struct probe_lines_options *options,
                                              const struct probe_input *input,
                                              struct probe_lines *out, struct td_error *err);
void probe_lines_deinit(struct probe_lines *lines);

#endif
