/* tandem chat: a conversation in the terminal. After each answer one dim line says where it came
 * from, with which confidence, how long it took and what it cost; a disclosure is printed as it
 * is. */
#include "app/cli/command.h"
#include "app/cli/options.h"
#include "app/cli/talk.h"
#include "app/cli/verb.h"
#include "app/setup/process/runtime.h"
#include "base/error.h"
#include "base/json.h"
#include "base/log.h"
#include "base/names.h"
#include "base/str.h"
#include "net/loop_event.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

/* Questions and answers that are remembered; the oldest pair goes first. */
#define HISTORY_MAX 64

struct conversation {
    struct td_message messages[HISTORY_MAX];
    size_t count;
    struct runtime *runtime; /* NULL with --url */
    struct loop *loop;
    const char *url;
    struct talk_request request;
    bool json, terminal;
};

/* --- history --- */

static void forget(struct conversation *conversation, size_t count)
{
    for (size_t i = 0; i < count; i++)
        free((void *)(uintptr_t)conversation->messages[i].content.data);
    conversation->count -= count;
    memmove(conversation->messages, conversation->messages + count,
            conversation->count * sizeof *conversation->messages);
}

static bool remember(struct conversation *conversation, enum td_role role, struct td_str text)
{
    if (conversation->count + 1 >= HISTORY_MAX)
        forget(conversation, 2);
    char *copy = malloc(text.len + 1);
    if (!copy)
        return false;
    if (text.len)
        memcpy(copy, text.data, text.len);
    copy[text.len] = '\0';
    conversation->messages[conversation->count++] = (struct td_message){role, {copy, text.len}};
    return true;
}

static void forget_last(struct conversation *conversation)
{
    struct td_message *last = &conversation->messages[--conversation->count];
    free((void *)(uintptr_t)last->content.data);
}

/* --- showing --- */

static void show_text(void *ctx, struct td_str text)
{
    (void)ctx;
    fwrite(text.data, 1, text.len, stdout);
    fflush(stdout);
}

static const char *member(const struct json *tandem, const char *name)
{
    const char *text = json_cstr(json_get(tandem, name));
    return text ? text : "-";
}

static void show_line(const struct conversation *conversation, const struct talk_answer *answer)
{
    const char *dim = conversation->terminal ? "\033[2m" : "";
    const char *plain = conversation->terminal ? "\033[0m" : "";
    const struct json *tandem = answer->tandem;
    char confidence[48] = "";
    if (json_kind_of(json_get(tandem, "confidence")) == JSON_KIND_DOUBLE)
        snprintf(confidence, sizeof confidence, ", confidence %.2f",
                 json_number(json_get(tandem, "confidence"), 0));
    printf("\n%s[%s (%s, %s)%s, %.0f ms, %.6f USD, class %s, %s]%s\n", dim, member(tandem, "tier"),
           member(tandem, "model"), member(tandem, "place"), confidence, answer->total_ms,
           json_number(json_get(tandem, "cost_usd"), 0), member(tandem, "data_class"),
           member(tandem, "exchange"), plain);
    if (json_kind_of(json_get(tandem, "disclosure")) == JSON_KIND_TEXT)
        printf("%s[%s]%s\n", dim, member(tandem, "disclosure"), plain);
    fflush(stdout);
}

static bool show_json(struct talk_answer *answer)
{
    struct json *object = json_new_object();
    json_put(object, "text", json_new_text(buf_view(&answer->text)));
    json_put(object, "total_ms", json_new_double(answer->total_ms));
    json_put(object, "tandem", answer->tandem ? json_clone(answer->tandem) : json_new_null());
    return command_print_json(object);
}

/* --- asking --- */

/* 0 when it was answered. */
static int ask(struct conversation *conversation, struct td_str text)
{
    struct td_error err = {0};
    struct talk_answer answer;
    talk_answer_init(&answer);
    if (!conversation->json)
        answer.on_text = show_text;
    enum td_status status = TD_NO_MEMORY;
    if (remember(conversation, TD_ROLE_USER, text)) {
        conversation->request.messages = conversation->messages;
        conversation->request.message_count = conversation->count;
        status = conversation->url
                     ? talk_remote(conversation->url, &conversation->request, &answer, &err)
                     : talk_local(conversation->runtime, conversation->loop, &conversation->request,
                                  &answer, &err);
        if (status != TD_OK || !remember(conversation, TD_ROLE_ASSISTANT, buf_view(&answer.text)))
            forget_last(conversation); /* an unanswered question would confuse the next */
    } else {
        error_set(&err, status, "no memory for the question");
    }
    int code = 0;
    if (status != TD_OK)
        code = command_fail("chat", &err);
    else if (conversation->json)
        code = show_json(&answer) ? 0 : 1;
    else
        show_line(conversation, &answer);
    talk_answer_deinit(&answer);
    return code;
}

static int converse(struct conversation *conversation)
{
    char *line = NULL;
    size_t capacity = 0;
    ssize_t len;
    int code = 0;
    if (conversation->terminal)
        printf("/new starts over, /quit ends.\n");
    for (;;) {
        if (conversation->terminal) {
            printf("\n> ");
            fflush(stdout);
        }
        if ((len = getline(&line, &capacity, stdin)) < 0)
            break;
        struct td_str text = str_trim((struct td_str){line, (size_t)len});
        if (str_equal(text, STR("/quit")) || str_equal(text, STR("/exit")))
            break;
        if (str_equal(text, STR("/new")))
            forget(conversation, conversation->count);
        else if (text.len)
            code = ask(conversation, text);
    }
    free(line);
    return conversation->terminal ? 0 : code;
}

static int open_and_talk(struct conversation *conversation, const struct runtime_options *options,
                         const char *text)
{
    struct td_error err = {0};
    enum td_status status = TD_OK;
    if (!conversation->url) {
        status = runtime_open(options, &conversation->runtime, &err);
        log_set_level(LOG_LEVEL_ERROR); /* the line after the answer says what matters */
        if (status == TD_OK)
            status = loop_event_new(&conversation->loop, &err);
    }
    int code;
    if (status != TD_OK)
        code = command_fail("chat", &err);
    else
        code = text ? ask(conversation, str_from(text)) : converse(conversation);
    forget(conversation, conversation->count);
    if (conversation->loop)
        loop_event_free(conversation->loop);
    runtime_close(conversation->runtime);
    return code;
}

static int cmd_chat(int argc, char **argv)
{
    struct runtime_options runtime = {.slots = 1, .arguments = argv};
    static struct conversation conversation; /* large for a stack; one a process */
    const char *mode = "auto", *data_class = "public", *text[1] = {NULL};
    size_t count = 0;
    const struct option options[] = {
        OPTION_ROW_CONFIG(runtime.config_path),
        {"url", 'u', OPTION_TEXT, &conversation.url, "URL", "ask a running server", 0, 0},
        OPTION_ROW_MODEL(runtime.model),
        {"route", 'r', OPTION_TEXT, &conversation.request.model, "NAME",
         "route, tier or model to ask; default auto", 0, 0},
        {"mode", 0, OPTION_TEXT, &mode, "MODE",
         "auto (default), only-local, prefer-local, prefer-cloud or only-cloud", 0, 0},
        {"data-class", 0, OPTION_TEXT, &data_class, "CLASS",
         "class of the data: public (default), sensitive, contractual or restricted", 0, 0},
        {"temp", 0, OPTION_NUMBER, &conversation.request.temperature, "T",
         "sampling temperature; default 0: always the likeliest token", 0, 2},
        {"max-tokens", 'n', OPTION_UINT, &conversation.request.tokens_max, "N",
         "most tokens of an answer; 0 = the tier's default", 0, 1e7},
        OPTION_ROW_THREADS(runtime.threads),
        OPTION_ROW_CPU(runtime.cpu),
        OPTION_ROW_JSON(conversation.json),
    };
    const struct option_spec spec = {
        .verb = "chat",
        .arguments = "[TEXT]",
        .summary = "Asks one question, or talks line by line. Questions are routed as the server "
                   "routes them; after each answer a line says where it came from.",
        .example = "  tandem chat \"Set a timer for ten minutes\"",
        OPTION_TABLE(options),
        .positional_max = 1,
    };
    OPTIONS_PARSE_OR_RETURN(&spec, argc, argv, text, &count);
    if (!names_mode_parse(str_from(mode), &conversation.request.mode))
        return options_misuse(
            "chat",
            "--mode is auto, only-local, prefer-local, prefer-cloud or only-cloud, not '%.40s'",
            mode);
    if (!names_class_parse(str_from(data_class), &conversation.request.data_class))
        return options_misuse(
            "chat", "--data-class is public, sensitive, contractual or restricted, not '%.40s'",
            data_class);
    conversation.terminal = isatty(STDIN_FILENO) && isatty(STDOUT_FILENO) && !conversation.json;
    return open_and_talk(&conversation, &runtime, text[0]);
}

const struct verb verb_chat = {"chat", cmd_chat,
                               "talk to the models in the terminal, or ask one question"};
