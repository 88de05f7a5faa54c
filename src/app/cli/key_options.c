#include "app/cli/key_options.h"

#include "app/cli/since_option.h"
#include "base/core/str.h"
#include "base/json/json.h"
#include "base/time/clock.h"

#include <time.h>

enum value_kind { VALUE_WHOLE, VALUE_MONEY, VALUE_TEXT, VALUE_LIST, VALUE_TIME, VALUE_NAME };

struct key_option_row {
    const char *name, *member;
    enum value_kind kind;
    const char *argument, *needs, *help;
};

#define WHOLE "a whole number, or none"
#define MONEY "a number of US dollars, or none"
#define LIST "names with commas between them, or all"

static const struct key_option_row rows_of_keys[KEY_OPTION_COUNT] = {
    {"expires", "expires", VALUE_TIME, "WHEN", "30d, 12h, a date such as 2027-01-31, or never",
     "when it is not taken any more: 30d, 12h, a date such as 2027-01-31, or never"},
    {"requests-per-minute", "requests_per_minute", VALUE_WHOLE, "N", WHOLE,
     "how many requests it may send in any 60 seconds"},
    {"tokens-per-minute", "tokens_per_minute", VALUE_WHOLE, "N", WHOLE,
     "how many tokens of prompts and answers it may use in any 60 seconds"},
    {"usd-per-day", "usd_per_day", VALUE_MONEY, "USD", MONEY, "its budget of a day"},
    {"usd-per-month", "usd_per_month", VALUE_MONEY, "USD", MONEY, "its budget of a month"},
    {"tokens-per-day", "tokens_per_day", VALUE_WHOLE, "N", WHOLE, "its tokens of a day"},
    {"tokens-per-month", "tokens_per_month", VALUE_WHOLE, "N", WHOLE, "its tokens of a month"},
    {"when-spent", "when_spent", VALUE_TEXT, "HOW", "refuse or local",
     "what happens when a budget is spent: refuse (the default), or local, where only tiers "
     "without a price answer"},
    {"weight", "weight", VALUE_WHOLE, "N", WHOLE,
     "its share beside other keys when many wait for the same tier; 1 is usual"},
    {"models", "models", VALUE_LIST, "NAMES", LIST,
     "routes, tiers and models that it may ask for; * stands for any text"},
    {"tiers", "tiers", VALUE_LIST, "NAMES", LIST, "tiers that may answer it"},
    {"classes", "classes", VALUE_LIST, "CLASSES", LIST,
     "classes of data that it may send: public, sensitive, contractual, restricted"},
    {"role", "role", VALUE_NAME, "ROLE", "reviewer or none",
     "reviewer: it may answer its tenant's tickets ('tandem review')"},
    {"clearance", "clearance", VALUE_NAME, "CLASS", "a class, or none",
     "the highest class of data that a reviewer is shown; of others the texts are redacted"},
};

static struct json *read_list(const char *text)
{
    struct json *list = json_new_array();
    struct td_str rest = str_from(text), name;
    while (str_next(&rest, ',', &name))
        json_push(list, json_new_text(str_trim(name)));
    return list;
}

/* A span from now, or the beginning of a day in local time; NULL = neither. */
static struct json *read_time(const char *text)
{
    uint64_t span_ms, now_ms = clock_wall_ms(NULL);
    struct tm day = {.tm_isdst = -1};
    if (since_option_span(str_from(text), &span_ms))
        return span_ms < INT64_MAX / 2 ? json_new_int((int64_t)((now_ms + span_ms) / 1000)) : NULL;
    const char *end = strptime(text, "%Y-%m-%d", &day);
    time_t at = end && !*end ? mktime(&day) : -1;
    return at > 0 ? json_new_int((int64_t)at) : NULL;
}

/* NULL = it cannot be read. **returns new** (json_free). */
static struct json *read_value(enum value_kind kind, const char *text)
{
    uint64_t whole;
    double number;
    switch (kind) {
    case VALUE_WHOLE:
        return str_to_u64(str_from(text), &whole) && whole <= INT64_MAX
                   ? json_new_int((int64_t)whole)
                   : NULL;
    case VALUE_MONEY:
        return str_to_double(str_from(text), &number) ? json_new_double(number) : NULL;
    case VALUE_LIST:
        return read_list(text);
    case VALUE_TIME:
        return read_time(text);
    default:
        return json_new_cstr(text);
    }
}

static bool take(void *ctx, const char *text)
{
    const struct key_option *option = ctx;
    static const char *const lifts[] = {
        [VALUE_WHOLE] = "none", [VALUE_MONEY] = "none", [VALUE_TEXT] = "refuse",
        [VALUE_LIST] = "all",   [VALUE_TIME] = "never", [VALUE_NAME] = "none"};
    bool lifted = strcmp(text, lifts[option->row->kind]) == 0;
    struct json *value = lifted ? json_new_null() : read_value(option->row->kind, text);
    if (value)
        json_put(option->all->wish, option->row->member, value);
    return value != NULL;
}

void key_options_init(struct key_options *options, struct option rows[static KEY_OPTION_COUNT])
{
    options->wish = json_new_object();
    for (size_t i = 0; i < KEY_OPTION_COUNT; i++) {
        struct key_option *of = &options->of[i];
        of->all = options;
        of->row = &rows_of_keys[i];
        of->each = (struct option_each){take, of, of->row->needs};
        rows[i] = (struct option){.name = of->row->name,
                                  .type = OPTION_EACH,
                                  .value = &of->each,
                                  .argument = of->row->argument,
                                  .help = of->row->help};
    }
}

void key_options_deinit(struct key_options *options)
{
    json_free(options->wish);
}
