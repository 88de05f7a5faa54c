/* The options --lora FILE and --lora-scale S. Both may be repeated. A scale belongs to the file
 * before it; the first scale may also come before the first file. */
#ifndef APP_LORA_OPTIONS_H
#define APP_LORA_OPTIONS_H

#include "app/cli/options.h"
#include "tandem/engine.h"

struct lora_options {
    const char *files[TD_ADAPTERS_MAX];
    float scales[TD_ADAPTERS_MAX];
    size_t count;
    bool scale_given;
    struct option_each file_option, scale_option;
};

/* Before the option table is parsed; the table keeps pointing here. */
void lora_options_init(struct lora_options *lora);

/* Loads the adapters and gives them to the session, which keeps them. */
TD_MUST_CHECK enum td_status lora_options_apply(const struct lora_options *lora,
                                                const struct td_model *model,
                                                struct td_session *session, struct td_error *err);

#define OPTION_ROW_LORA(variable)                                \
    {                                                            \
        "lora", 0, OPTION_EACH, &(variable).file_option, "FILE", \
            "LoRA adapter to use; may be repeated", 0, 0         \
    }
#define OPTION_ROW_LORA_SCALE(variable)                              \
    {                                                                \
        "lora-scale", 0, OPTION_EACH, &(variable).scale_option, "S", \
            "scale of the adapter before it; default 1", 0, 0        \
    }

#endif
