/* tandem egress show: what left, as a list for people or as JSON. */
#define HELP_OF 29
#include "app/cli/command.h"
#include "app/cli/options.h"
#include "app/cli/since_option.h"
#include "app/cli/verb.h"
#include "app/config/packed_help.h"
#include "app/verbs/inspect/egress_record.h"
#include "base/core/error.h"
#include "base/core/str.h"
#include "base/json/json.h"
#include "base/time/clock.h"
#include "ledger/egress/egress_read.h"
#include "ledger/record/ledger.h"

#include <stdio.h>

struct show {
    const char *exchange; /* the beginning of an id; NULL: all */
    char since[25];       /* ISO 8601, which sorts as text */
    bool json;
    uint64_t count, bytes;
};

static const char *text_of(const struct json *object, const char *name)
{
    const char *text = json_cstr(json_get(object, name));
    return text ? text : "-";
}

/* Region and certificates of the tier, where it has any. */
static void print_assurances(const struct json *entry)
{
    const struct json *certified = json_get(entry, "certified");
    if (json_cstr(json_get(entry, "region")))
        printf(", %s", text_of(entry, "region"));
    for (size_t i = 0; i < json_count(certified); i++) {
        const char *name = json_cstr(json_at(certified, i));
        printf("%s%s", i ? " " : ", certified ", name ? name : "-");
    }
}

static void print_entry(const struct json *entry)
{
    printf("%s  %-12s %-28s %s (%s, %s", text_of(entry, "time"), text_of(entry, "purpose"),
           text_of(entry, "exchange"), text_of(entry, "tier"), text_of(entry, "host"),
           text_of(entry, "place"));
    print_assurances(entry);
    printf(")  %lld bytes  %s", (long long)json_int(json_get(entry, "bytes"), 0),
           text_of(entry, "class"));
    const struct json *replaced = json_get(entry, "replaced"), *count;
    const char *separator = "  replaced: ", *type;
    void *iterator = NULL;
    while (json_next(replaced, &iterator, &type, &count)) {
        printf("%s%lld %s", separator, (long long)json_int(count, 0), type);
        separator = ", ";
    }
    printf("\n");
}

static enum td_status show_line(void *ctx, struct td_str line, struct td_error *err)
{
    struct show *show = ctx;
    struct json *entry;
    enum td_status status = egress_read_entry(line, show->since, &entry, err);
    if (status != TD_OK || !entry)
        return status;
    bool wanted = !show->exchange ||
                  str_starts_with(json_text(json_get(entry, "exchange")), str_from(show->exchange));
    if (wanted && show->json) {
        printf("%s" STR_FMT, show->count ? "," : "", STR_ARG(line));
    } else if (wanted) {
        command_harmless_begin();
        print_entry(entry);
        (void)command_harmless_end(false);
    }
    if (wanted) {
        show->count++;
        show->bytes += (uint64_t)json_int(json_get(entry, "bytes"), 0);
    }
    json_free(entry);
    return TD_OK;
}

static int egress_show(int argc, char **argv)
{
    const char *config_path = NULL, *path, *wanted = NULL;
    char exchange[64];
    struct since_option since;
    struct show show = {0};
    since_option_init(&since, "all");
    const struct option options[] = {
        OPTION_ROW_CONFIG(config_path),
        {"exchange", 'x', OPTION_TEXT, &wanted, "ID",
         HELP_TEXT("only this exchange: its id, a beginning of it, or its answer's id"), 0, 0},
        OPTION_ROW_SINCE(since, "all"),
        OPTION_ROW_JSON(show.json),
    };
    const struct option_spec spec = {
        .verb = "egress show",
        .summary = HELP_TEXT(
            "Lists what left the device, oldest first: when, for which exchange, where to, "
            "how many bytes, their data class, and what was replaced in them."),
        OPTION_TABLE(options),
    };
    OPTIONS_PARSE_OR_RETURN(&spec, argc, argv, NULL, NULL);
    snprintf(exchange, sizeof exchange, "%s", wanted ? wanted : "");
    ledger_name_exchange(exchange);
    show.exchange = wanted ? exchange : NULL;
    clock_format_iso8601(since.wall_ms, show.since);
    struct td_error err = {0};
    struct config *config = NULL;
    enum td_status status = egress_record_find(config_path, NULL, &config, &path, &err);
    if (status == TD_OK) {
        printf("%s", show.json ? "{\"transfers\":[" : "");
        status = egress_each_line(path, show_line, &show, &err);
        if (show.json)
            printf("],\"count\":%llu,\"bytes\":%llu}\n", (unsigned long long)show.count,
                   (unsigned long long)show.bytes);
        else
            printf("%llu transfer%s, %llu bytes\n", (unsigned long long)show.count,
                   PLURAL(show.count), (unsigned long long)show.bytes);
    }
    config_free(config);
    return status == TD_OK ? 0 : command_fail("egress show", &err);
}

const struct verb verb_egress_show = {"show", egress_show,
                                      "list what left: when, where to, how much, of which class"};
