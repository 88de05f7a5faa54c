/* Chat templates by family. The family is recognised from tokenizer.chat_template in the file, or
 * from the special tokens when that is absent. The output is a list of segments, so that marks of
 * the template may become special tokens and message text never does. No state; any thread. */
#ifndef ENGINE_TEMPLATE_H
#define ENGINE_TEMPLATE_H

#include "engine/tokenizer/tokenizer.h"
#include "tandem/types.h"

enum template_family {
    TEMPLATE_NONE, /* not recognised: messages become "role: text" lines */
    TEMPLATE_CHATML,
    TEMPLATE_LLAMA2,
    TEMPLATE_LLAMA3,
    /* each is a row of the table in template.c */
    TEMPLATE_QWEN15,
    TEMPLATE_QWEN2,
    TEMPLATE_QWEN25,
    TEMPLATE_SMOLLM2,
    TEMPLATE_LLAMA2_CHAT,
    TEMPLATE_LLAMA2_BOS,
    TEMPLATE_MISTRAL_V1,
    TEMPLATE_MISTRAL_V3,
    TEMPLATE_MISTRAL_TEKKEN,
    TEMPLATE_MISTRAL_V7,
    TEMPLATE_GEMMA,
    TEMPLATE_PHI3,
    TEMPLATE_PHI4,
    TEMPLATE_ZEPHYR,
    TEMPLATE_STABLELM_ZEPHYR,
    TEMPLATE_DEEPSEEK_CODER,
    TEMPLATE_DEEPSEEK_V2,
    TEMPLATE_DEEPSEEK_V3,
    TEMPLATE_FAMILY_COUNT
};

enum template_family template_recognise(struct td_str jinja_text);
/* For files without a template: recognises the special tokens of the vocabulary. */
enum template_family template_recognise_tokens(const struct tokenizer *tokenizer);
const char *template_family_name(enum template_family family); /* "chatml", ... ; "" for none */

struct template_output {
    struct buf text;     /* rendered prompt */
    struct buf segments; /* array of struct text_segment, in order, covering the text */
};

void template_output_init(struct template_output *out, size_t bytes_max);
void template_output_deinit(struct template_output *out);
/* Adjacent texts of the same kind share a segment. An empty text makes none. */
void template_output_append(struct template_output *out, struct td_str text, bool mark);

/* add_generation: end with the mark that opens the assistant's turn. TD_INVALID for an order of
 * roles that the family cannot express (with the index of the message). */
TD_MUST_CHECK enum td_status template_render(enum template_family family,
                                             const struct td_message *messages,
                                             size_t message_count, bool add_generation,
                                             struct template_output *out, struct td_error *err);

#endif
