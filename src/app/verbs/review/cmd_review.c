/* tandem review: tickets for people, as the review API has them (api/review/review_desk.h). It asks
 * the server; where none runs, it works on the queue in the state folder, as the operator. */
#define HELP_OF 62
#include "api/review/review_desk.h"
#include "app/cli/command.h"
#include "app/cli/options.h"
#include "app/cli/remote.h"
#include "app/cli/verb.h"
#include "app/config/packed_help.h"
#include "app/setup/files/queue_file.h"
#include "base/bytes/buf.h"
#include "base/core/error.h"
#include "base/core/str.h"
#include "base/json/json.h"
#include "base/text/utf8.h"

#include <stdio.h>
#include <string.h>
#include <time.h>

#define REPLY_BYTES_MAX ((size_t)64 << 20)
#define TIMEOUT_MS 30000

struct wish {
    const char *verb; /* "list", "show", or a step */
    const char *id;   /* NULL = none */
    const char *config_path, *url;
    bool all, json;
    uint32_t limit;
    struct json *body; /* of a step */
};

/* --- by the server --- */

static enum td_status ask_server(const struct wish *wish, const char *base, struct json **out,
                                 int *code, struct td_error *err)
{
    char path[200];
    bool step = wish->body != NULL;
    if (strcmp(wish->verb, "list") == 0)
        snprintf(path, sizeof path, "/tandem/v1/review/tickets?limit=%u&state=%s", wish->limit,
                 wish->all ? "all" : "waiting");
    else if (!wish->id)
        snprintf(path, sizeof path, "/tandem/v1/review/take");
    else
        snprintf(path, sizeof path, "/tandem/v1/review/tickets/%.40s%s%s", wish->id,
                 step ? "/" : "", step ? wish->verb : "");
    struct remote_request request = {
        .base = base, .path = path, .timeout_ms = TIMEOUT_MS, .code = code};
    return remote_ask(&request, wish->body, REPLY_BYTES_MAX, out, err);
}

/* --- in the state folder --- */

static uint32_t lease_of(void *ctx, const char *tier)
{
    const struct config_tier *found = config_tier_find(ctx, tier);
    return (found && found->kind == CONFIG_TIER_REVIEW ? found->review.lease_minutes : 15) * 60;
}

static enum td_status work_here(const struct wish *wish, struct config *config, struct json **out,
                                struct td_error *err)
{
    char path[STATE_PATH_BYTES];
    struct review_verdict verdict = {.accepted = -1};
    const char *param = NULL;
    const char *person = json_cstr(json_get(wish->body, "reviewer"));
    struct review_desk desk = {
        .viewer = {.clearance = TD_CLASS_RESTRICTED}, .lease_s = lease_of, .ctx = config};
    snprintf(desk.viewer.who, sizeof desk.viewer.who, "operator%s%.40s", person ? "/" : "",
             person ? person : "");
    enum td_status status = queue_file_name(config, path, err);
    if (status == TD_OK)
        status = queue_store_open(path, &desk.queue, err);
    if (status != TD_OK)
        return status;
    const struct queue_filter filter = {.waiting = !wish->all, .limit = wish->limit};
    if (strcmp(wish->verb, "list") == 0)
        status = review_desk_list(&desk, &filter, out, err);
    else if (!wish->body)
        status = review_desk_show(&desk, wish->id, out, err);
    else
        status =
            review_desk_step(&desk, wish->id, wish->verb, wish->body, out, &verdict, &param, err);
    json_free(verdict.candidates);
    queue_store_close(desk.queue);
    return status;
}

static enum td_status work(const struct wish *wish, struct json **out, struct td_error *err)
{
    char base[300];
    int code = 0;
    struct config *config = NULL;
    enum td_status status = config_load(wish->config_path, &config, err);
    if (status != TD_OK)
        return status;
    remote_write_base(config, base, sizeof base);
    status = ask_server(wish, wish->url ? wish->url : base, out, &code, err);
    if (status != TD_OK && code == 0 && !wish->url && status != TD_LIMIT) {
        *err = (struct td_error){0};
        status = work_here(wish, config, out, err);
    }
    config_free(config);
    return status;
}

/* --- printing --- */

static void print_text(const char *title, const struct json *value)
{
    struct td_str text = json_text(value);
    printf("%s\n", title);
    if (text.data)
        fwrite(text.data, 1, text.len, stdout);
    else
        fputs("(withheld)", stdout);
    fputs("\n\n", stdout);
}

static const char *text_of(const struct json *object, const char *member)
{
    const char *text = json_cstr(json_get(object, member));
    return text ? text : "-";
}

static void print_row(const struct json *row)
{
    time_t created = (time_t)json_int(json_get(row, "created"), 0);
    struct tm local;
    char when[20] = "-";
    if (localtime_r(&created, &local))
        strftime(when, sizeof when, "%Y-%m-%d %H:%M", &local);
    printf("%-27s %-10s %-12s %-8s %-16s %-9s %s\n", text_of(row, "id"), text_of(row, "tier"),
           text_of(row, "data_class"), text_of(row, "state"), when, text_of(row, "outcome"),
           text_of(row, "holder"));
}

static void print_ticket(const struct json *ticket)
{
    char title[200];
    const struct json *question = json_get(ticket, "question");
    const struct json *candidates = json_get(ticket, "candidates");
    print_row(ticket);
    printf("shown %s; a review costs %g USD, an error %g USD\n\n", text_of(ticket, "shown"),
           json_number(json_get(ticket, "review_usd"), 0),
           json_number(json_get(ticket, "cost_of_error_usd"), 0));
    for (size_t i = 0; i < json_count(question); i++) {
        const struct json *row = json_at(question, i);
        print_text(text_of(row, "role"), json_get(row, "content"));
    }
    for (size_t i = 0; i < json_count(candidates); i++) {
        const struct json *row = json_at(candidates, i);
        snprintf(title, sizeof title, "candidate %zu of %.64s, confidence %.2f", i,
                 text_of(row, "tier"), json_number(json_get(row, "confidence"), -1));
        print_text(title, json_get(row, "content"));
    }
    if (json_cstr(json_get(ticket, "answer")))
        print_text("answer", json_get(ticket, "answer"));
}

static int run(const struct wish *wish, const char *verb)
{
    struct td_error err = {0};
    struct json *out = NULL;
    if (work(wish, &out, &err) != TD_OK)
        return command_fail_as(verb, &err, wish->json);
    if (wish->json)
        return command_print_json(out) ? 0 : 1;
    const struct json *list = json_get(out, "data");
    command_harmless_begin();
    if (list && json_count(list) == 0)
        printf("no ticket waits\n");
    for (size_t i = 0; i < json_count(list); i++)
        print_row(json_at(list, i));
    if (!list)
        print_ticket(out);
    json_free(out);
    return !command_harmless_end(false);
}

/* --- the verbs --- */

#define COMMON_ROWS(wish)                                                                        \
    OPTION_ROW_CONFIG((wish).config_path), OPTION_ROW_JSON((wish).json),                         \
    {                                                                                            \
        "url", 'u', OPTION_TEXT, &(wish).url, "URL",                                             \
            "the server to ask; default: the address in the configuration, and where no server " \
            "answers, the queue in the state folder",                                            \
            0, 0                                                                                 \
    }

static int cmd_list(int argc, char **argv)
{
    struct wish wish = {.verb = "list", .limit = 100};
    const struct option options[] = {
        COMMON_ROWS(wish),
        {"all", 'a', OPTION_FLAG, &wish.all, NULL, HELP_TEXT("also tickets that have ended"), 0, 0},
        {"limit", 'n', OPTION_UINT, &wish.limit, "N", HELP_TEXT("how many; default 100"), 1, 1000},
    };
    const struct option_spec spec = {
        .verb = "review list",
        .summary = HELP_TEXT("Prints the tickets that wait, oldest first."),
        .json = HELP_TEXT("what GET /tandem/v1/review/tickets answers"),
        OPTION_TABLE(options)};
    OPTIONS_PARSE_OR_RETURN(&spec, argc, argv, NULL, NULL);
    return run(&wish, spec.verb);
}

static int cmd_show(int argc, char **argv)
{
    struct wish wish = {.verb = "show"};
    size_t count = 0;
    const struct option options[] = {COMMON_ROWS(wish)};
    const struct option_spec spec = {
        .verb = "review show",
        .arguments = "TICKET",
        .summary =
            HELP_TEXT("Prints a ticket: the question, the candidate answers, and who looked at it. "
                      "The look is noted."),
        .json = HELP_TEXT("what GET /tandem/v1/review/tickets/TICKET answers"),
        OPTION_TABLE(options),
        .positional_max = 1};
    OPTIONS_PARSE_OR_RETURN(&spec, argc, argv, &wish.id, &count);
    if (count != 1)
        return options_misuse(spec.verb, "name the ticket; 'tandem review list' shows them");
    return run(&wish, spec.verb);
}

/* What the steps say about themselves. */
static const struct step {
    const char *verb, *arguments, *summary;
    size_t needs, most; /* positional arguments */
} steps[] = {
    {"take", "[TICKET]",
     "Takes a ticket, or the oldest that is open, for the tier's lease_minutes: until then nobody "
     "else can answer it. Taking it again makes it longer.",
     0, 1},
    {"release", "TICKET", "Gives a ticket back that was taken.", 1, 1},
    {"answer", "TICKET [TEXT]",
     "Answers a ticket with a text, or accepts one of its candidates as it is (--candidate). "
     "TEXT - reads it from standard input.",
     1, 2},
    {"edit", "TICKET TEXT",
     "Answers a ticket with a candidate that was changed: TEXT is how it reads now, and "
     "--candidate says which it was. TEXT - reads it from standard input.",
     2, 2},
    {"reject", "TICKET [TEXT]",
     "Ends a ticket: no candidate is right, and there will be no other answer. TEXT says why.", 1,
     2},
};

/* The text of the command line, or of standard input; false with the error. */
static bool put_text(struct json *body, const char *text, struct td_error *err)
{
    struct buf read;
    struct td_str all = str_from(text);
    bool ok = true;
    buf_init(&read, REVIEW_TEXT_BYTES_MAX + 1);
    if (strcmp(text, "-") == 0) {
        buf_deinit(&read);
        ok = command_read_all("-", &read, err) == TD_OK;
        all = buf_view(&read);
    }
    if (ok && !utf8_is_valid(all))
        ok = error_set(err, TD_INVALID, "the text is not UTF-8") == TD_OK;
    if (ok)
        json_put(body, "text", json_new_text(all));
    buf_deinit(&read);
    return ok;
}

static int cmd_step(int argc, char **argv, const struct step *step)
{
    struct wish wish = {.verb = step->verb, .body = json_new_object()};
    const char *arguments[2] = {NULL, NULL}, *person = NULL;
    uint32_t candidate = UINT32_MAX;
    size_t count = 0;
    char name[32];
    struct td_error err = {0};
    snprintf(name, sizeof name, "review %s", step->verb);
    const struct option options[] = {
        COMMON_ROWS(wish),
        {"as", 0, OPTION_TEXT, &person, "NAME",
         HELP_TEXT("who works here, where several share a key"), 0, 0},
        {"candidate", 'n', OPTION_UINT, &candidate, "N", HELP_TEXT("a candidate's number, from 0"),
         0, 100},
    };
    const struct option_spec spec = {
        .verb = name,
        .arguments = step->arguments,
        .summary = step->summary,
        .json = HELP_TEXT("the ticket as in GET /tandem/v1/review/tickets/TICKET"),
        OPTION_TABLE(options),
        .positional_max = step->most};
    int code = 2;
    switch (options_parse(&spec, argc, argv, arguments, &count)) {
    case OPTIONS_HELP:
        code = 0;
        break;
    case OPTIONS_RUN:
        wish.id = arguments[0];
        if (person)
            json_put(wish.body, "reviewer", json_new_cstr(person));
        if (candidate != UINT32_MAX)
            json_put(wish.body, "candidate", json_new_int(candidate));
        if (count < step->needs)
            code = options_misuse(name, "it takes %s", step->arguments);
        else if (arguments[1] && !put_text(wish.body, arguments[1], &err))
            code = command_fail_as(name, &err, wish.json);
        else
            code = run(&wish, name);
        break;
    case OPTIONS_USAGE:
        break;
    }
    json_free(wish.body);
    return code;
}

#define STEP(function, number)                       \
    static int function(int argc, char **argv)       \
    {                                                \
        return cmd_step(argc, argv, &steps[number]); \
    }
STEP(cmd_take, 0)
STEP(cmd_release, 1)
STEP(cmd_answer, 2)
STEP(cmd_edit, 3)
STEP(cmd_reject, 4)

static const struct verb list_verb = {"list", cmd_list, HELP_TEXT("the tickets that wait")},
                         show_verb = {"show", cmd_show, HELP_TEXT("one ticket with its question")},
                         take_verb = {"take", cmd_take, HELP_TEXT("take a ticket to answer it")},
                         release_verb = {"release", cmd_release,
                                         HELP_TEXT("give a taken ticket back")},
                         answer_verb = {"answer", cmd_answer,
                                        HELP_TEXT("answer it, or accept a candidate")},
                         edit_verb = {"edit", cmd_edit,
                                      HELP_TEXT("answer with a candidate that was changed")},
                         reject_verb = {"reject", cmd_reject,
                                        HELP_TEXT("end it: no answer is right")};

static const struct verb *const verbs[] = {&list_verb,   &show_verb, &take_verb,   &release_verb,
                                           &answer_verb, &edit_verb, &reject_verb, NULL};

static int cmd_review(int argc, char **argv)
{
    return verb_run(
        "review",
        HELP_TEXT("Works on tickets: questions that a route leaves to people (docs/review.md). It "
                  "asks the server, with the key in TANDEM_API_KEY."),
        verbs, argc, argv);
}

const struct verb verb_review = {"review", cmd_review,
                                 HELP_TEXT("answer questions that wait for people")};
