/* Chat templates by family, for files without a template and for templates that the interpreter
 * (jinja.c) refuses. The family is recognised by marks in the template's text or by special tokens.
 * It is rendered from a table: the text before and after a message of each role, and the text that
 * opens the assistant's turn. BOS is not part of the text; the tokenizer adds it.
 *
 * llama.cpp's built-in templates (the "rendered" field of the golden cases) sometimes differ from
 * the model's own Jinja text ("jinja_rendered"). The rows follow "rendered", except where the model
 * was trained on the Jinja text: default system prompts (Qwen, SmolLM2, DeepSeek-Coder) and
 * zephyr's end mark </s>. Llama 3.1's date lines are left out, as in llama.cpp. */
#include "engine/template/template.h"

#include "base/core/assertion.h"
#include "base/core/error.h"
#include "base/core/str.h"
#include "base/text/names.h"
#include "engine/tokenizer/tokenizer.h"

struct turn {
    const char *open, *close; /* open NULL = the family has no such role */
    bool trim;                /* white space around the message is dropped */
};

struct family {
    const char *name;
    struct turn system, user, assistant, tool;
    const char *generation;     /* opens the assistant's turn */
    const char *system_default; /* the system message when the chat has none; or NULL */
    const char *later_user;     /* opens user turns after the first, if that text differs */
    bool system_in_user; /* the system message is inside the first user turn, after its open */
    bool alternates;     /* user and assistant must take turns, the user first */
};

#define CHATML_ROLE(role)                               \
    {                                                   \
        "<|im_start|>" role "\n", "<|im_end|>\n", false \
    }
#define CHATML_TURNS                                              \
    .system = CHATML_ROLE("system"), .user = CHATML_ROLE("user"), \
    .assistant = CHATML_ROLE("assistant"), .generation = "<|im_start|>assistant\n"
#define QWEN_TOOL                                                                      \
    {                                                                                  \
        "<|im_start|>user\n<tool_response>\n", "\n</tool_response><|im_end|>\n", false \
    }
#define LLAMA3_ROLE(role)                                                      \
    {                                                                          \
        "<|start_header_id|>" role "<|end_header_id|>\n\n", "<|eot_id|>", true \
    }
#define PHI4_ROLE(role)                                       \
    {                                                         \
        "<|im_start|>" role "<|im_sep|>", "<|im_end|>", false \
    }
#define TAG_ROLE(role, end)               \
    {                                     \
        "<|" role "|>\n", end "\n", false \
    }
#define END_OF_SENTENCE "<｜end▁of▁sentence｜>"

static const struct family families[TEMPLATE_FAMILY_COUNT] = {
    [TEMPLATE_NONE] = {.name = "",
                       .system = {"system: ", "\n", false},
                       .user = {"user: ", "\n", false},
                       .assistant = {"assistant: ", "\n", false},
                       .tool = {"tool: ", "\n", false},
                       .generation = "assistant:"},
    [TEMPLATE_CHATML] = {.name = "chatml", CHATML_TURNS, .tool = CHATML_ROLE("tool")},
    [TEMPLATE_QWEN15] = {.name = "qwen1.5",
                         CHATML_TURNS,
                         .tool = CHATML_ROLE("tool"),
                         .system_default = "You are a helpful assistant"},
    [TEMPLATE_QWEN2] = {.name = "qwen2",
                        CHATML_TURNS,
                        .tool = CHATML_ROLE("tool"),
                        .system_default = "You are a helpful assistant."},
    [TEMPLATE_QWEN25] = {.name = "qwen2.5",
                         CHATML_TURNS,
                         .tool = QWEN_TOOL,
                         .system_default = "You are Qwen, created by Alibaba Cloud. "
                                           "You are a helpful assistant."},
    [TEMPLATE_SMOLLM2] = {.name = "smollm2",
                          CHATML_TURNS,
                          .tool = CHATML_ROLE("tool"),
                          .system_default = "You are a helpful AI assistant named SmolLM, "
                                            "trained by Hugging Face"},
    [TEMPLATE_LLAMA2] = {.name = "llama2",
                         .system = {"<<SYS>>\n", "\n<</SYS>>\n\n", true},
                         .user = {"[INST] ", " [/INST]", true},
                         .assistant = {"", "</s>", true},
                         .generation = "",
                         .system_in_user = true,
                         .alternates = true},
    [TEMPLATE_LLAMA2_CHAT] = {.name = "llama2-chat",
                              .system = {"<<SYS>>\n", "\n<</SYS>>\n\n", true},
                              .user = {"[INST] ", " [/INST]", true},
                              .later_user = "<s>[INST] ",
                              .assistant = {" ", " </s>", true},
                              .generation = "",
                              .system_in_user = true,
                              .alternates = true},
    [TEMPLATE_LLAMA2_BOS] = {.name = "llama2-sys-bos",
                             .system = {"<<SYS>>\n", "\n<</SYS>>\n\n", false},
                             .user = {"[INST] ", " [/INST]", false},
                             .later_user = "<s>[INST] ",
                             .assistant = {"", "</s>", false},
                             .generation = "",
                             .system_in_user = true,
                             .alternates = true},
    [TEMPLATE_LLAMA3] = {.name = "llama3",
                         .system = LLAMA3_ROLE("system"),
                         .user = LLAMA3_ROLE("user"),
                         .assistant = LLAMA3_ROLE("assistant"),
                         .tool = LLAMA3_ROLE("ipython"),
                         .generation = "<|start_header_id|>assistant<|end_header_id|>\n\n"},
    [TEMPLATE_MISTRAL_V1] = {.name = "mistral-v1",
                             .system = {"", "\n\n", false},
                             .user = {" [INST] ", " [/INST]", false},
                             .assistant = {" ", "</s>", false},
                             .generation = "",
                             .system_in_user = true,
                             .alternates = true},
    [TEMPLATE_MISTRAL_V3] = {.name = "mistral-v3",
                             .system = {"", "\n\n", false},
                             .user = {"[INST] ", "[/INST]", false},
                             .assistant = {" ", "</s>", true},
                             .generation = "",
                             .system_in_user = true,
                             .alternates = true},
    [TEMPLATE_MISTRAL_TEKKEN] = {.name = "mistral-v3-tekken",
                                 .system = {"", "\n\n", false},
                                 .user = {"[INST]", "[/INST]", false},
                                 .assistant = {"", "</s>", false},
                                 .generation = "",
                                 .system_in_user = true,
                                 .alternates = true},
    [TEMPLATE_MISTRAL_V7] = {.name = "mistral-v7",
                             .system = {"[SYSTEM_PROMPT] ", "[/SYSTEM_PROMPT]", false},
                             .user = {"[INST] ", "[/INST]", false},
                             .assistant = {" ", "</s>", false},
                             .generation = ""},
    [TEMPLATE_GEMMA] = {.name = "gemma",
                        .system = {"", "\n\n", true},
                        .user = {"<start_of_turn>user\n", "<end_of_turn>\n", true},
                        .assistant = {"<start_of_turn>model\n", "<end_of_turn>\n", true},
                        .generation = "<start_of_turn>model\n",
                        .system_in_user = true,
                        .alternates = true},
    [TEMPLATE_PHI3] = {.name = "phi3",
                       .system = TAG_ROLE("system", "<|end|>"),
                       .user = TAG_ROLE("user", "<|end|>"),
                       .assistant = TAG_ROLE("assistant", "<|end|>"),
                       .generation = "<|assistant|>\n"},
    [TEMPLATE_PHI4] = {.name = "phi4",
                       .system = PHI4_ROLE("system"),
                       .user = PHI4_ROLE("user"),
                       .assistant = PHI4_ROLE("assistant"),
                       .generation = "<|im_start|>assistant<|im_sep|>"},
    [TEMPLATE_ZEPHYR] = {.name = "zephyr",
                         .system = TAG_ROLE("system", "</s>"),
                         .user = TAG_ROLE("user", "</s>"),
                         .assistant = TAG_ROLE("assistant", "</s>"),
                         .generation = "<|assistant|>\n"},
    [TEMPLATE_STABLELM_ZEPHYR] = {.name = "stablelm-zephyr",
                                  .system = TAG_ROLE("system", "<|endoftext|>"),
                                  .user = TAG_ROLE("user", "<|endoftext|>"),
                                  .assistant = TAG_ROLE("assistant", "<|endoftext|>"),
                                  .generation = "<|assistant|>\n"},
    [TEMPLATE_DEEPSEEK_CODER] =
        {.name = "deepseek-coder",
         .system = {"", "", false},
         .user = {"### Instruction:\n", "\n", false},
         .assistant = {"### Response:\n", "\n<|EOT|>\n", false},
         .generation = "### Response:\n",
         .system_default = "You are an AI programming assistant, utilizing the Deepseek "
                           "Coder model, developed by Deepseek Company, and you only "
                           "answer questions related to computer science. For politically "
                           "sensitive questions, security and privacy issues, and other "
                           "non-computer science questions, you will refuse to answer\n"},
    [TEMPLATE_DEEPSEEK_V2] = {.name = "deepseek-v2",
                              .system = {"", "\n\n", false},
                              .user = {"User: ", "\n\n", false},
                              .assistant = {"Assistant: ", END_OF_SENTENCE, false},
                              .generation = "Assistant:"},
    [TEMPLATE_DEEPSEEK_V3] = {.name = "deepseek-v3",
                              .system = {"", "\n\n", false},
                              .user = {"<｜User｜>", "", false},
                              .assistant = {"<｜Assistant｜>", END_OF_SENTENCE, false},
                              .generation = "<｜Assistant｜>"},
};

/* --- recognising --- */

/* The first rule whose marks are all in the Jinja text decides. */
static const struct {
    enum template_family family;
    const char *marks[3];
} rules[] = {
    {TEMPLATE_PHI4, {"<|im_start|>", "<|im_sep|>"}},
    {TEMPLATE_QWEN25, {"<|im_start|>", "You are Qwen, created by Alibaba Cloud."}},
    {TEMPLATE_SMOLLM2, {"<|im_start|>", "You are a helpful AI assistant named SmolLM, trained by"}},
    {TEMPLATE_QWEN2, {"<|im_start|>", "You are a helpful assistant.<|im_end|>"}},
    {TEMPLATE_QWEN15, {"<|im_start|>", "You are a helpful assistant<|im_end|>"}},
    {TEMPLATE_CHATML, {"<|im_start|>"}},
    {TEMPLATE_MISTRAL_V7, {"[INST]", "[SYSTEM_PROMPT]"}},
    {TEMPLATE_MISTRAL_V1, {"' [INST] ' + system_message"}},
    {TEMPLATE_MISTRAL_V1, {" [INST]", "[AVAILABLE_TOOLS]"}},
    {TEMPLATE_MISTRAL_TEKKEN, {"\"[INST]\"", "[AVAILABLE_TOOLS]"}},
    {TEMPLATE_MISTRAL_V3, {"[INST]", "[AVAILABLE_TOOLS]"}},
    {TEMPLATE_LLAMA2_CHAT, {"bos_token + '[INST]", "content.strip()"}},
    {TEMPLATE_LLAMA2_BOS, {"bos_token + '[INST]"}},
    {TEMPLATE_LLAMA2, {"[INST]"}},
    {TEMPLATE_PHI3, {"<|assistant|>", "<|end|>"}},
    {TEMPLATE_STABLELM_ZEPHYR, {"<|user|>", "<|endoftext|>"}},
    {TEMPLATE_ZEPHYR, {"<|user|>", "eos_token"}},
    {TEMPLATE_LLAMA3, {"<|start_header_id|>", "<|end_header_id|>"}},
    {TEMPLATE_GEMMA, {"<start_of_turn>"}},
    {TEMPLATE_DEEPSEEK_V3, {"<｜User｜>", "<｜Assistant｜>"}},
    {TEMPLATE_DEEPSEEK_V2, {"'Assistant: ' + message['content'] + eos_token"}},
    {TEMPLATE_DEEPSEEK_CODER, {"### Instruction:", "<|EOT|>"}},
};

enum template_family template_recognise(struct td_str jinja_text)
{
    for (size_t i = 0; i < sizeof(rules) / sizeof(rules[0]); i++) {
        bool all = true;
        for (size_t m = 0; m < 3 && rules[i].marks[m]; m++)
            all = all && str_find(jinja_text, str_from(rules[i].marks[m]), 0) != SIZE_MAX;
        if (all)
            return rules[i].family;
    }
    return TEMPLATE_NONE;
}

enum template_family template_recognise_tokens(const struct tokenizer *tokenizer)
{
    static const struct {
        enum template_family family;
        const char *tokens[2];
    } by_token[] = {
        {TEMPLATE_CHATML, {"<|im_start|>", "<|im_end|>"}},
        {TEMPLATE_LLAMA3, {"<|start_header_id|>", "<|end_header_id|>"}},
        {TEMPLATE_GEMMA, {"<start_of_turn>", "<end_of_turn>"}},
        {TEMPLATE_PHI3, {"<|assistant|>", "<|end|>"}},
        {TEMPLATE_MISTRAL_V7, {"[INST]", "[SYSTEM_PROMPT]"}},
        {TEMPLATE_MISTRAL_V3, {"[INST]", "[/INST]"}},
        {TEMPLATE_DEEPSEEK_V3, {"<｜User｜>", "<｜Assistant｜>"}},
    };
    for (size_t i = 0; i < sizeof(by_token) / sizeof(by_token[0]); i++)
        if (tokenizer_find(tokenizer, str_from(by_token[i].tokens[0])) >= 0 &&
            tokenizer_find(tokenizer, str_from(by_token[i].tokens[1])) >= 0)
            return by_token[i].family;
    return TEMPLATE_NONE;
}

static const struct family *family_of(enum template_family family)
{
    bool known = (unsigned)family < TEMPLATE_FAMILY_COUNT;
    return &families[known ? family : TEMPLATE_NONE];
}

const char *template_family_name(enum template_family family)
{
    return family_of(family)->name;
}

/* --- rendering --- */

void template_output_init(struct template_output *out, size_t bytes_max)
{
    buf_init(&out->text, bytes_max);
    /* Every segment has at least one byte of text. */
    const size_t one = sizeof(struct text_segment);
    buf_init(&out->segments, bytes_max > SIZE_MAX / one ? SIZE_MAX - 1 : bytes_max * one);
}

void template_output_deinit(struct template_output *out)
{
    buf_deinit(&out->text);
    buf_deinit(&out->segments);
}

void template_output_append(struct template_output *out, struct td_str text, bool mark)
{
    ASSERT(text.data != NULL || text.len == 0);
    if (text.len == 0)
        return;
    size_t begin = out->text.len;
    buf_append_str(&out->text, text);
    if (out->text.failed)
        return;
    if (out->segments.len > 0) {
        struct text_segment last;
        char *at = out->segments.data + out->segments.len - sizeof(last);
        memcpy(&last, at, sizeof(last));
        if (last.mark == mark) {
            last.end = out->text.len;
            memcpy(at, &last, sizeof(last));
            return;
        }
    }
    struct text_segment segment = {.begin = begin, .end = out->text.len, .mark = mark};
    buf_append(&out->segments, &segment, sizeof(segment));
}

static void append_mark(struct template_output *out, const char *text)
{
    template_output_append(out, str_from(text), true);
}

static void append_turn(struct template_output *out, const struct turn *turn, struct td_str content)
{
    append_mark(out, turn->open);
    template_output_append(out, turn->trim ? str_trim(content) : content, false);
    append_mark(out, turn->close);
}

static bool is_system(const struct td_message *message)
{
    return message->role == TD_ROLE_SYSTEM || message->role == TD_ROLE_DEVELOPER;
}

static const struct turn *turn_of(const struct family *family, enum td_role role)
{
    switch (role) {
    case TD_ROLE_SYSTEM:
    case TD_ROLE_DEVELOPER:
        return &family->system;
    case TD_ROLE_USER:
        return &family->user;
    case TD_ROLE_ASSISTANT:
        return &family->assistant;
    case TD_ROLE_TOOL:
        return &family->tool;
    }
    return NULL;
}

static enum td_status check_order(const struct family *family, const struct td_message *messages,
                                  size_t message_count, struct td_error *err)
{
    size_t turns = 0;
    for (size_t i = 0; i < message_count; i++) {
        const struct turn *turn = turn_of(family, messages[i].role);
        if (turn == NULL || turn->open == NULL)
            return error_set(err, TD_INVALID, "message %zu: the %s template has no role '%s'", i,
                             family->name, names_role(messages[i].role));
        if (is_system(&messages[i])) {
            if (!family->system_in_user)
                continue;
            if (i != 0)
                return error_set(err, TD_INVALID,
                                 "message %zu: the %s template takes a system message only first",
                                 i, family->name);
            if (message_count == 1)
                return error_set(err, TD_INVALID,
                                 "message 0: the %s template needs a user message after the system "
                                 "message",
                                 family->name);
            continue;
        }
        enum td_role expected = turns++ % 2 == 0 ? TD_ROLE_USER : TD_ROLE_ASSISTANT;
        if (family->alternates && messages[i].role != expected)
            return error_set(err, TD_INVALID,
                             "message %zu: the %s template needs user and assistant in turn; here "
                             "'%s' was expected, not '%s'",
                             i, family->name, names_role(expected), names_role(messages[i].role));
    }
    return TD_OK;
}

enum td_status template_render(enum template_family family_id, const struct td_message *messages,
                               size_t message_count, bool add_generation,
                               struct template_output *out, struct td_error *err)
{
    ASSERT(messages != NULL || message_count == 0);
    const struct family *family = family_of(family_id);
    enum td_status status = check_order(family, messages, message_count, err);
    if (status != TD_OK)
        return status;
    bool system_first = message_count > 0 && is_system(&messages[0]);
    if (family->system_default && !system_first) {
        append_mark(out, family->system.open);
        append_mark(out, family->system_default);
        append_mark(out, family->system.close);
    }
    bool first_user = true;
    for (size_t i = 0; i < message_count; i++) {
        if (family->system_in_user && is_system(&messages[i]))
            continue;
        struct turn turn = *turn_of(family, messages[i].role);
        if (messages[i].role == TD_ROLE_USER && first_user) {
            first_user = false;
            if (family->system_in_user && system_first) {
                append_mark(out, turn.open);
                append_turn(out, &family->system, messages[0].content);
                turn.open = "";
            }
        } else if (messages[i].role == TD_ROLE_USER && family->later_user) {
            turn.open = family->later_user;
        }
        append_turn(out, &turn, messages[i].content);
    }
    if (add_generation)
        append_mark(out, family->generation);
    if (out->text.failed || out->segments.failed)
        return error_set(err, TD_LIMIT, "the prompt has more than %zu bytes", out->text.bytes_max);
    return TD_OK;
}
