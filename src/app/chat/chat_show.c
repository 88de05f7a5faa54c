/* What the user sees beside answers. Everything is broken into lines of the terminal's width, and
 * dim or bold only where the terminal has colours. */
#include "app/chat/chat.h"

#include "app/cli/remote.h"
#include "base/core/error.h"
#include "base/core/str.h"
#include "base/json/json.h"
#include "base/text/names.h"
#include "exchange/machine/exchange.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <unistd.h>

#define SAID_BYTES_MAX (1u << 16)
#define LIST_BYTES_MAX (1u << 20)
#define LIST_TIMEOUT_MS 3000

#define DIM "\033[2m"
#define BOLD "\033[1m"
#define PLAIN "\033[0m"

/* In lines of the width of the terminal that `out` is. */
static void print(FILE *out, const char *style, struct td_str text)
{
    if (*style)
        fputs(style, out);
    word_wrap_print(out, terminal_columns(fileno(out)), text);
    if (*style)
        fputs(PLAIN, out);
    fflush(out);
}

void chat_say(const struct chat *chat, const char *format, ...)
{
    char text[SAID_BYTES_MAX / 8];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    print(chat->terminal.shows && !chat->brief ? stdout : stderr, "", str_from(text));
}

/* --- where answers come from --- */

static const char *place_in_words(enum td_place place)
{
    static const char *const words[] = {"on this device", "on the premises", "in the region",
                                        "in the cloud"};
    return words[place];
}

/* Why a tier cannot answer, or "". */
static void write_fault(const struct tier_facts *facts, struct buf *out)
{
    if (!facts->has_key && facts->key_hint)
        buf_printf(out, "; off: %s is not set", facts->key_hint);
    else if (!facts->has_key)
        buf_printf(out, "; off: it has no key");
    else if (facts->model_fault)
        buf_printf(out, "; %s", facts->model_fault->text);
}

static void write_tier(const struct tier_facts *facts, struct buf *out)
{
    buf_printf(out, "%s: %s, %s", facts->name, facts->model ? facts->model : "no model",
               place_in_words(facts->place));
    write_fault(facts, out);
    buf_append_char(out, '\n');
}

static void write_tiers(const struct chat *chat, struct buf *out)
{
    struct exchange_services *services = runtime_acquire(chat->runtime);
    for (size_t i = 0; i < services->tier_count; i++)
        write_tier(&services->tiers[i]->facts, out);
    runtime_release(chat->runtime, services);
}

/* Whether anything of the conversation can leave. */
static bool can_leave(const struct chat *chat)
{
    bool leaves = false;
    struct exchange_services *services = runtime_acquire(chat->runtime);
    for (size_t i = 0; i < services->tier_count; i++) {
        const struct tier_facts *facts = &services->tiers[i]->facts;
        leaves = leaves || (facts->place != TD_PLACE_DEVICE && tier_facts_usable(facts));
    }
    runtime_release(chat->runtime, services);
    return leaves && chat->request.mode != TD_MODE_ONLY_LOCAL;
}

void chat_show_banner(const struct chat *chat)
{
    struct buf text;
    buf_init(&text, SAID_BYTES_MAX);
    print(stdout, chat->terminal.colours ? BOLD : "", STR("Tandem " TANDEM_VERSION));
    if (chat->url) {
        buf_printf(&text, "The server at %s answers", chat->url);
        if (chat->name_count == 0)
            buf_append_str(&text, STR("; it could not be asked what models it has"));
        buf_append_str(&text, STR(".\n"));
    } else {
        write_tiers(chat, &text);
        buf_append_str(&text, can_leave(chat)
                                  ? STR("Easy and private questions stay on this device; hard ones "
                                        "may leave it. /private keeps all here.\n")
                                  : STR("Nothing that you type leaves this device.\n"));
    }
    buf_append_str(&text, STR("Type a question. /help lists commands, Ctrl-C stops an answer, "
                              "Ctrl-D leaves."));
    print(stdout, "", buf_view(&text));
    buf_deinit(&text);
}

static void write_names(const struct chat *chat, struct buf *out)
{
    for (size_t i = 0; i < chat->name_count; i++)
        buf_printf(out, "%s%s", i ? ", " : "Names: ", chat->names[i]);
    buf_append_str(out, chat->name_count ? STR("\n") : STR(""));
}

void chat_show_models(const struct chat *chat)
{
    struct buf text;
    buf_init(&text, SAID_BYTES_MAX);
    if (!chat->url)
        write_tiers(chat, &text);
    write_names(chat, &text);
    buf_printf(&text, "Asked now: %s", *chat->model ? chat->model : "auto");
    print(stdout, "", buf_view(&text));
    buf_deinit(&text);
}

static void add_name(struct chat *chat, const char *name)
{
    bool known = !name || strlen(name) >= CHAT_NAME_BYTES || chat->name_count == CHAT_NAMES_MAX;
    for (size_t i = 0; !known && i < chat->name_count; i++)
        known = strcmp(chat->names[i], name) == 0;
    if (!known)
        snprintf(chat->names[chat->name_count++], CHAT_NAME_BYTES, "%s", name);
}

static void read_names_here(struct chat *chat)
{
    struct exchange_services *services = runtime_acquire(chat->runtime);
    for (size_t i = 0; i < services->policy->route_count; i++)
        add_name(chat, services->policy->routes[i].name);
    for (size_t i = 0; i < services->tier_count; i++)
        add_name(chat, services->tiers[i]->facts.name);
    for (size_t i = 0; i < services->tier_count; i++) {
        const struct tier_facts *facts = &services->tiers[i]->facts;
        add_name(chat, facts->model);
        for (size_t j = 0; j < facts->model_count; j++)
            add_name(chat, facts->models[j].name);
    }
    runtime_release(chat->runtime, services);
}

/* A server that nobody reaches is a failure; one that answers with something else is not. */
static enum td_status read_names_there(struct chat *chat, struct td_error *err)
{
    struct td_error ignored = {0};
    struct json *list = NULL;
    struct buf body;
    int code = 0;
    buf_init(&body, LIST_BYTES_MAX);
    struct remote_request request = {.base = chat->url,
                                     .path = "/v1/models",
                                     .answer = &body,
                                     .timeout_ms = LIST_TIMEOUT_MS,
                                     .code = &code};
    enum td_status status = remote_call(&request, &ignored);
    if (status == TD_OK && json_parse(buf_view(&body), &list, &ignored) == TD_OK) {
        const struct json *data = json_get(list, "data");
        for (size_t i = 0; i < json_count(data); i++)
            add_name(chat, json_cstr(json_get(json_at(data, i), "id")));
    }
    json_free(list);
    buf_deinit(&body);
    return status == TD_OK || code ? TD_OK : error_set(err, status, "%s", ignored.message);
}

enum td_status chat_read_names(struct chat *chat, struct td_error *err)
{
    chat->name_count = 0;
    if (chat->url)
        return read_names_there(chat, err);
    read_names_here(chat);
    return TD_OK;
}

/* --- after an answer --- */

static void write_money(double usd, struct buf *out)
{
    buf_printf(out, usd > 0 ? "%.6f USD" : "%.0f USD", usd);
}

static void write_left(const struct chat *chat, uint64_t bytes, struct buf *out)
{
    const char *what = chat->url ? "the server" : "the device";
    if (bytes)
        buf_printf(out, "%llu bytes left %s", (unsigned long long)bytes, what);
    else
        buf_printf(out, "nothing left %s", what);
}

static void write_footer(const struct chat *chat, const struct talk_answer *answer, struct buf *out)
{
    const struct json *tandem = answer->tandem;
    const char *tier = json_cstr(json_get(tandem, "tier"));
    const char *model = json_cstr(json_get(tandem, "model"));
    const char *place = json_cstr(json_get(tandem, "place"));
    const char *data_class = json_cstr(json_get(tandem, "data_class"));
    const char *id = json_cstr(json_get(tandem, "exchange"));
    double confidence = json_number(json_get(tandem, "confidence"), NAN);
    buf_append_str(out, answer->stopped ? STR("[stopped; ") : STR("["));
    if (tier)
        buf_printf(out, "%s (%s, %s)", tier, model ? model : "-", place ? place : "-");
    else
        buf_append_str(out, STR("no tier"));
    if (isfinite(confidence) && !answer->stopped)
        buf_printf(out, ", confidence %.2f", confidence);
    const char *cache = json_cstr(json_get(tandem, "cache"));
    if (cache && strcmp(cache, "miss") != 0)
        buf_append_str(out, STR(", from the cache"));
    buf_printf(out, ", %.0f ms, ", answer->total_ms);
    write_money(json_number(json_get(tandem, "cost_usd"), 0), out);
    if (json_get(tandem, "egress_bytes")) {
        buf_append_str(out, STR(", "));
        write_left(chat, (uint64_t)json_int(json_get(tandem, "egress_bytes"), 0), out);
    }
    if (data_class && strcmp(data_class, "public") != 0)
        buf_printf(out, ", class %s", data_class);
    if (id && !chat->terminal.shows)
        buf_printf(out, ", %s", id);
    buf_append_char(out, ']');
    if (json_kind_of(json_get(tandem, "disclosure")) == JSON_KIND_TEXT)
        buf_printf(out, "\n[%s]", json_cstr(json_get(tandem, "disclosure")));
}

/* A script wants the answer, and has to know when it is a poor one. */
static void warn_script(const struct chat *chat, const struct talk_answer *answer)
{
    const char *disclosure = json_cstr(json_get(answer->tandem, "disclosure"));
    if (disclosure)
        fprintf(stderr, "tandem %s: %s\n", chat->verb, disclosure);
}

void chat_show_footer(const struct chat *chat, const struct talk_answer *answer)
{
    struct buf text;
    if (chat->brief && !isatty(STDERR_FILENO)) {
        warn_script(chat, answer);
        return;
    }
    FILE *out = chat->brief ? stderr : stdout;
    buf_init(&text, SAID_BYTES_MAX);
    write_footer(chat, answer, &text);
    bool dim =
        chat->brief ? chat->terminal.colours && isatty(STDERR_FILENO) : chat->terminal.colours;
    print(out, dim ? DIM : "", buf_view(&text));
    buf_deinit(&text);
}

void chat_show_cost(const struct chat *chat)
{
    const struct chat_totals *totals = &chat->totals;
    struct buf text;
    buf_init(&text, SAID_BYTES_MAX);
    buf_printf(&text, "%u answer%s", totals->answers, PLURAL(totals->answers));
    if (totals->stopped)
        buf_printf(&text, " and %u stopped", totals->stopped);
    buf_append_str(&text, STR(" since the start: "));
    write_money(totals->cost_usd, &text);
    buf_append_str(&text, STR(", "));
    write_left(chat, totals->egress_bytes, &text);
    buf_append_str(&text, STR(". The cloud alone would have cost "));
    write_money(totals->all_cloud_cost_usd, &text);
    buf_append_str(&text, STR("."));
    print(stdout, "", buf_view(&text));
    buf_deinit(&text);
}
