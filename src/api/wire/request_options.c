/* One row an option: its member of `tandem`, its header, and the function that applies a value.
 *
 * A value comes as JSON or as a header's text. Most options are a text in either form, so a
 * function takes a struct value and asks for what it needs. A new option is a member of td_request,
 * a row here with its function, and the code that reads the member. */
#include "api/wire/request_options.h"

#include "api/wire/openai_adapters.h"
#include "base/core/assertion.h"
#include "base/core/error.h"
#include "base/core/str.h"

#include <math.h>
#include <stdio.h>

#define SLO_MS_MAX 86400000u /* a day: above it a time limit is surely a slip */
#define TAG_BYTES_MAX 64
#define REGION_BYTES_MAX 32

struct value {
    const char *param;       /* what the client calls it: "tandem.mode", "x-tandem-mode" */
    const struct json *json; /* of the body; NULL: it is a header */
    struct td_str text;      /* the string or the header, NUL-terminated; NULL: it is no string */
    struct arena *arena;     /* for pieces of a header */
};

typedef bool apply_fn(const struct value *value, struct td_request *request, struct fault *fault);

/* --- values that are words --- */

static bool refuse_kind(const struct value *value, struct fault *fault)
{
    return fault_request(fault, value->param, "%s must be a string, not %s", value->param,
                         json_kind_name(json_kind_of(value->json)));
}

static bool apply_mode(const struct value *value, struct td_request *request, struct fault *fault)
{
    if (!value->text.data)
        return refuse_kind(value, fault);
    if (names_mode_parse(value->text, &request->mode))
        return true;
    return fault_request(
        fault, value->param,
        "%s: unknown mode '" STR_FMT "': use only-local, prefer-local, auto, "
        "prefer-cloud or only-cloud%s",
        value->param, STR_ARG(str_slice(value->text, 0, 40)),
        error_suggest(value->text, names_modes, names_table_count(names_modes)).text);
}

/* Only raises: of two declarations of one request the stricter one holds, wherever it stands. */
static bool apply_class(const struct value *value, struct td_request *request, struct fault *fault)
{
    enum td_data_class data_class;
    if (!value->text.data)
        return refuse_kind(value, fault);
    if (names_class_parse(value->text, &data_class)) {
        if (data_class > request->data_class)
            request->data_class = data_class;
        return true;
    }
    return fault_request(fault, value->param,
                         "%s: unknown data class '" STR_FMT
                         "': use public, sensitive or restricted",
                         value->param, STR_ARG(str_slice(value->text, 0, 40)));
}

static bool apply_priority(const struct value *value, struct td_request *request,
                           struct fault *fault)
{
    if (!value->text.data)
        return refuse_kind(value, fault);
    if (names_priority_parse(value->text, &request->priority))
        return true;
    return fault_request(fault, value->param,
                         "%s: unknown priority '" STR_FMT "': use interactive or batch",
                         value->param, STR_ARG(str_slice(value->text, 0, 40)));
}

static bool apply_network(const struct value *value, struct td_request *request,
                          struct fault *fault)
{
    if (names_network_parse(value->text, &request->network))
        return true;
    return fault_request(fault, value->param,
                         "%s must be online, metered or offline, not '" STR_FMT "'", value->param,
                         STR_ARG(str_slice(value->text, 0, 40)));
}

/* Of two declarations both hold. */
static bool apply_region(const struct value *value, struct td_request *request, struct fault *fault)
{
    static const char allowed[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-";
    struct td_str text = value->text;
    size_t count = 0;
    if (text.len == 0 || text.len > REGION_BYTES_MAX || strspn(text.data, allowed) != text.len)
        return fault_request(fault, value->param,
                             "%s must be a jurisdiction as tiers name it, such as eu",
                             value->param);
    while (request->regions[count])
        count++;
    ASSERT(count < TD_REGIONS_MAX); /* one from the body, one from a header */
    request->regions[count] = text.data;
    return true;
}

static bool apply_user(const struct value *value, struct td_request *request, struct fault *fault)
{
    if (value->text.len == 0 || value->text.len > REQUEST_USER_BYTES_MAX)
        return fault_request(fault, value->param,
                             value->json ? "%s must be a string of 1 to %d bytes"
                                         : "%s must have 1 to %d bytes",
                             value->param, REQUEST_USER_BYTES_MAX);
    request->user = value->text.data;
    return true;
}

/* --- numbers --- */

static bool read_slo(const struct value *value, uint32_t *out, struct fault *fault)
{
    uint64_t number = 0;
    if (value->json)
        number = json_int(value->json, 0) > 0 ? (uint64_t)json_int(value->json, 0) : 0;
    else if (!str_to_u64(value->text, &number))
        number = 0;
    if (number < 1 || number > SLO_MS_MAX)
        return fault_request(fault, value->param, "%s must be an integer of milliseconds, 1 to %u",
                             value->param, SLO_MS_MAX);
    *out = (uint32_t)number;
    return true;
}

static bool apply_slo_ttft(const struct value *value, struct td_request *request,
                           struct fault *fault)
{
    return read_slo(value, &request->slo_ttft_ms, fault);
}

static bool apply_slo(const struct value *value, struct td_request *request, struct fault *fault)
{
    return read_slo(value, &request->slo_ms, fault);
}

#define COST_USD_MAX 1e9

static bool apply_cost_of_error(const struct value *value, struct td_request *request,
                                struct fault *fault)
{
    double usd = -1;
    if (value->json)
        usd = json_number(value->json, -1);
    else if (!str_to_double(value->text, &usd))
        usd = -1;
    if (!(usd >= 0 && usd <= COST_USD_MAX))
        return fault_request(fault, value->param, "%s must be a number of US dollars, 0 to %.0f",
                             value->param, COST_USD_MAX);
    request->cost_of_error = usd;
    return true;
}

/* The official clients say when they hang up, in seconds: "600", "2.5". Some say "NOT_GIVEN". What
 * is not a time says nothing: the user did not write it. */
static void read_client_timeout(const char *text, struct td_request *request)
{
    double seconds = 0;
    if (!text || !str_to_double(str_trim(str_from(text)), &seconds) || !(seconds > 0) ||
        seconds * 1000 > SLO_MS_MAX)
        return;
    uint32_t ms = (uint32_t)fmax(seconds * 1000, 1);
    if (request->client_timeout_ms == 0 || ms < request->client_timeout_ms)
        request->client_timeout_ms = ms;
}

static bool set_weight(struct td_str name, double value, struct td_weights *out)
{
    double *corner = str_equal(name, STR("latency"))   ? &out->latency
                     : str_equal(name, STR("privacy")) ? &out->privacy
                     : str_equal(name, STR("cost"))    ? &out->cost
                                                       : NULL;
    if (!corner || !(value >= 0 && value <= 1))
        return false;
    *corner = value;
    out->set = true;
    return true;
}

/* {latency, privacy, cost}. */
static bool read_weights_object(const struct value *value, struct td_weights *out,
                                struct fault *fault)
{
    void *iterator = NULL;
    const char *key;
    const struct json *number;
    if (json_kind_of(value->json) != JSON_KIND_OBJECT)
        return fault_request(fault, value->param,
                             "weights must be an object {latency, privacy, cost}");
    while (json_next(value->json, &iterator, &key, &number))
        if (!set_weight(str_from(key), json_number(number, -1), out))
            return fault_request(fault, value->param,
                                 "weights are latency, privacy and cost, each from 0 to 1");
    return true;
}

/* The triangle's corners by name alone ("cost"), or with numbers. */
static bool read_weights_list(const struct value *value, struct td_weights *out,
                              struct fault *fault)
{
    struct td_str rest = value->text, part;
    while (str_next(&rest, ',', &part)) {
        struct td_str name;
        double number = 1;
        bool alone = !memchr(part.data, '=', part.len);
        bool ok = str_next(&part, '=', &name) &&
                  (alone || str_to_double(str_trim(part), &number)) &&
                  set_weight(str_trim(name), number, out);
        if (!ok)
            return fault_request(fault, value->param,
                                 "%s reads latency=0.2,privacy=0.5,cost=0.3, each 0 "
                                 "to 1, or one of these names",
                                 value->param);
    }
    return true;
}

/* The user's point in the triangle. */
static bool apply_weights(const struct value *value, struct td_request *request,
                          struct fault *fault)
{
    struct td_weights read = {.set = false};
    if (!(value->json ? read_weights_object : read_weights_list)(value, &read, fault))
        return false;
    request->weights = read;
    return true;
}

/* --- yes or no --- */

static bool read_yes(const struct value *value, bool *out, struct fault *fault)
{
    struct td_str text = value->text;
    bool yes = value->json ? json_bool(value->json, false)
                           : str_equal(text, STR("true")) || str_equal(text, STR("1"));
    bool known = value->json ? json_kind_of(value->json) == JSON_KIND_BOOL
                             : yes || str_equal(text, STR("false")) || str_equal(text, STR("0"));
    if (!known)
        return fault_request(fault, value->param, "%s must be true or false", value->param);
    *out = yes;
    return true;
}

/* Of two declarations the stricter one holds. */
static bool read_promise(const struct value *value, bool *out, struct fault *fault)
{
    bool yes;
    if (!read_yes(value, &yes, fault))
        return false;
    *out |= yes;
    return true;
}

static bool apply_corrections(const struct value *value, struct td_request *request,
                              struct fault *fault)
{
    return read_yes(value, &request->corrections, fault);
}

static bool apply_stakes(const struct value *value, struct td_request *request, struct fault *fault)
{
    bool high = str_equal(value->text, STR("high"));
    if (!high && !str_equal(value->text, STR("low")))
        return fault_request(fault, value->param, "%s must be low or high", value->param);
    request->stakes = high ? STAKES_HIGH : STAKES_LOW;
    return true;
}

static bool apply_no_train(const struct value *value, struct td_request *request,
                           struct fault *fault)
{
    return read_promise(value, &request->no_train, fault);
}

static bool apply_no_retention(const struct value *value, struct td_request *request,
                               struct fault *fault)
{
    return read_promise(value, &request->no_retention, fault);
}

/* --- what has a shape of its own --- */

static bool add_tag(const struct value *value, struct td_str text, struct td_request *request,
                    struct fault *fault)
{
    if (text.len == 0 || text.len > TAG_BYTES_MAX || request->tag_count == TD_TAGS_MAX)
        return fault_request(fault, value->param, "%s are at most %d words of 1 to %d bytes",
                             value->param, TD_TAGS_MAX, TAG_BYTES_MAX);
    const char *copy = value->json ? text.data : arena_copy(value->arena, text);
    if (!copy)
        return fault_request(fault, value->param, "%s do not fit the memory of a request",
                             value->param);
    request->tags[request->tag_count++] = copy;
    return true;
}

/* A list in the body; words with commas between them in a header, which replaces the body's. */
static bool apply_tags(const struct value *value, struct td_request *request, struct fault *fault)
{
    struct td_str rest = value->text, part;
    if (value->json && json_kind_of(value->json) != JSON_KIND_ARRAY)
        return fault_request(fault, value->param, "%s must be a list of strings", value->param);
    request->tag_count = 0;
    for (size_t i = 0; i < json_count(value->json); i++)
        if (!add_tag(value, json_text(json_at(value->json, i)), request, fault))
            return false;
    while (!value->json && str_next(&rest, ',', &part))
        if (!add_tag(value, str_trim(part), request, fault))
            return false;
    return true;
}

/* An id, or in the body the consent itself. */
static bool apply_consent(const struct value *value, struct td_request *request,
                          struct fault *fault)
{
    bool whole = json_kind_of(value->json) == JSON_KIND_OBJECT;
    struct td_str id = whole ? json_text(json_get(value->json, "id")) : value->text;
    if (value->json && (id.len == 0 || memchr(id.data, '\0', id.len)))
        return fault_request(fault, value->param, "%s must be an id, or {id, scope, expires}",
                             value->param);
    request->consent = id.data;
    if (whole) {
        int64_t expires_s = json_int(json_get(value->json, "expires"), 0);
        bool fits = expires_s > 0 && expires_s < INT64_MAX / 1000;
        request->brought =
            (struct request_consent){.id = id.data,
                                     .scope = json_cstr(json_get(value->json, "scope")),
                                     .expires_ms = fits ? (uint64_t)expires_s * 1000 : 0};
    }
    return true;
}

static bool apply_adapters(const struct value *value, struct td_request *request,
                           struct fault *fault)
{
    return openai_adapters_read(value->json, value->param, request, fault);
}

/* --- answers that were kept --- */

static void raise_cache(enum td_cache_use use, struct td_request *request)
{
    if (use > request->cache)
        request->cache = use;
}

static bool apply_cache(const struct value *value, struct td_request *request, struct fault *fault)
{
    static const char *const words[] = {"use", "refresh", "off",
                                        NULL}; /* enum td_cache_use less 1 */
    for (size_t i = 0; words[i] && value->text.data; i++)
        if (str_equal(value->text, str_from(words[i]))) {
            raise_cache((enum td_cache_use)(i + 1), request);
            return true;
        }
    return fault_request(fault, value->param, "%s must be use, refresh or off", value->param);
}

/* "again" is the queue's own word. */
static bool apply_defer(const struct value *value, struct td_request *request, struct fault *fault)
{
    static const char *const words[] = {"never", "allow", "only", "again",
                                        NULL}; /* enum td_defer less 1 */
    size_t found;
    if (!value->text.data || !names_table_find(words, value->text, &found))
        return fault_request(fault, value->param, "%s must be allow, only or never", value->param);
    request->defer = (enum td_defer)(found + 1);
    return true;
}

/* RFC 9111, section 5.2.1. Directives about other things, and what is no directive, are ignored, as
 * it asks. */
static void read_cache_control(const char *text, struct td_request *request)
{
    struct td_str rest = str_from(text), part;
    const struct td_str age = STR("max-age=");
    uint64_t seconds;
    while (str_next(&rest, ',', &part)) {
        part = str_trim(part);
        if (str_equal_nocase(part, STR("no-store")))
            raise_cache(CACHE_OFF, request);
        else if (str_equal_nocase(part, STR("no-cache")))
            raise_cache(CACHE_REFRESH, request);
        else if (part.len > age.len && str_equal_nocase(str_slice(part, 0, age.len), age) &&
                 str_to_u64(str_slice(part, age.len, part.len), &seconds)) {
            if (seconds == 0)
                raise_cache(CACHE_REFRESH, request);
            request->cache_age_max_s = seconds > UINT32_MAX ? UINT32_MAX : (uint32_t)seconds;
        }
    }
}

/* --- the table --- */

static const struct option {
    const char *member, *header; /* header NULL: the body alone has it */
    apply_fn *apply;
} options[] = {
    {"mode", "x-tandem-mode", apply_mode},
    {"data_class", "x-tandem-data-class", apply_class},
    {"priority", "x-tandem-priority", apply_priority},
    {"slo_ttft_ms", "x-tandem-slo-ttft-ms", apply_slo_ttft},
    {"slo_ms", "x-tandem-slo-ms", apply_slo},
    {"weights", "x-tandem-weights", apply_weights},
    {"cost_of_error", "x-tandem-cost-of-error", apply_cost_of_error},
    {"network", "x-tandem-network", apply_network},
    {"tags", "x-tandem-tags", apply_tags},
    {"corrections", "x-tandem-corrections", apply_corrections},
    {"stakes", "x-tandem-stakes", apply_stakes},
    {"no_train", "x-tandem-no-train", apply_no_train},
    {"no_retention", "x-tandem-no-retention", apply_no_retention},
    {"region", "x-tandem-region", apply_region},
    {"consent", "x-tandem-consent", apply_consent},
    {"user", "x-tandem-user", apply_user},
    {"cache", "x-tandem-cache", apply_cache},
    {"defer", "x-tandem-defer", apply_defer},
    {"adapters", NULL, apply_adapters},
};

enum { OPTION_COUNT = sizeof options / sizeof *options };

static const struct option *find_option(const char *member)
{
    for (size_t i = 0; i < OPTION_COUNT; i++)
        if (strcmp(options[i].member, member) == 0)
            return &options[i];
    return NULL;
}

static bool refuse_member(const char *key, const char *param, struct fault *fault)
{
    const char *members[OPTION_COUNT];
    for (size_t i = 0; i < OPTION_COUNT; i++)
        members[i] = options[i].member;
    return fault_request(fault, param, "unknown member '%.40s' in tandem%s", key,
                         error_suggest(str_from(key), members, OPTION_COUNT).text);
}

bool request_options_read_body(const struct json *body, struct td_request *request,
                               struct fault *fault)
{
    ASSERT(request && fault);
    const struct json *tandem = json_get(body, "tandem"), *json;
    void *iterator = NULL;
    const char *key;
    if (json_absent(tandem))
        return true;
    if (json_kind_of(tandem) != JSON_KIND_OBJECT)
        return fault_request(fault, "tandem", "tandem must be an object, not %s",
                             json_kind_name(json_kind_of(tandem)));
    while (json_next(tandem, &iterator, &key, &json)) {
        const struct option *option = find_option(key);
        char param[64];
        snprintf(param, sizeof param, "tandem.%.40s", key);
        const struct value value = {.param = param, .json = json, .text = json_text(json)};
        if (!option)
            return refuse_member(key, param, fault);
        if (!json_absent(json) && !option->apply(&value, request, fault))
            return false;
    }
    return true;
}

const char *request_options_header(size_t index)
{
    return index < OPTION_COUNT ? options[index].header ? options[index].header : "" : NULL;
}

bool request_options_read_headers(request_header_fn *header, void *ctx, struct arena *arena,
                                  struct td_request *request, struct fault *fault)
{
    ASSERT(header && arena && request && fault);
    read_client_timeout(header(ctx, "x-stainless-read-timeout"), request);
    read_client_timeout(header(ctx, "x-stainless-timeout"), request);
    read_cache_control(header(ctx, "cache-control"), request);
    for (size_t i = 0; i < OPTION_COUNT; i++) {
        const char *name = options[i].header, *given = name ? header(ctx, name) : NULL;
        if (!given)
            continue;
        struct td_str text = str_trim(str_from(given));
        text.data = arena_copy(arena, text);
        if (!text.data)
            return fault_request(fault, name, "%s does not fit the memory of a request", name);
        const struct value value = {.param = name, .text = text, .arena = arena};
        if (!options[i].apply(&value, request, fault))
            return false;
    }
    return true;
}
