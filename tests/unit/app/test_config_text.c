/* What of a configuration's text is shown, and what in it may be changed. */
#include "test.h"

#include "app/desk/config_text.h"
#include "base/core/error.h"
#include "base/core/str.h"
#include "base/json/json.h"

static const char *home_only(void *ctx, const char *name)
{
    (void)ctx;
    return strcmp(name, "HOME") == 0 ? "/home/test" : NULL;
}

static struct config *parse(const char *text)
{
    struct config *config = NULL;
    struct td_error err = {0};
    if (config_parse("t.yaml", str_from(text), home_only, NULL, &config, &err) != TD_OK)
        fprintf(stderr, "%s\n", err.message);
    CHECK(config != NULL);
    return config;
}

#define HEAD                                                                \
    "tiers:\n- {name: local, kind: local}\n- name: cloud\n  kind: openai\n" \
    "  model: m\n"
#define ROUTES "routes:\n- {name: auto, kind: hybrid, tiers: [local, cloud]}\n"

/* Hides what the text has, and puts it back: the text as it was. */
static bool hides(const char *text, const char *wanted)
{
    struct config *config = parse(text);
    struct buf shown, again;
    struct td_error err = {0};
    buf_init(&shown, 4096);
    buf_init(&again, 4096);
    bool same = config_text_hide(config, str_from(text), &shown, &err) == TD_OK &&
                str_equal(buf_view(&shown), str_from(wanted));
    if (!same)
        fprintf(stderr, "%s " STR_FMT "\n", err.message, STR_ARG(buf_view(&shown)));
    config_text_restore(config, buf_view(&shown), &again);
    same = same && str_equal(buf_view(&again), str_from(text));
    buf_deinit(&shown);
    buf_deinit(&again);
    config_free(config);
    return same;
}

static void test_values_of_headers_are_hidden_and_come_back(void)
{
    CHECK(hides(HEAD ROUTES, HEAD ROUTES));
    CHECK(hides(
        HEAD "  headers: [{name: X-A, value: s1}, {name: s1, value: 's2'}]\n" ROUTES, HEAD
        "  headers: [{name: X-A, value: (hidden 1)}, {name: s1, value: '(hidden 2)'}]\n" ROUTES));
    CHECK(hides(HEAD "  headers:\n  - value: s1 # s1\n    name: X-A\n" ROUTES,
                HEAD "  headers:\n  - value: (hidden 1) # s1\n    name: X-A\n" ROUTES));
    CHECK(hides(HEAD "  headers: [{name: X-A, env: SECRET}]\n" ROUTES,
                HEAD "  headers: [{name: X-A, env: SECRET}]\n" ROUTES));
}

static void test_a_value_in_a_form_that_cannot_be_hidden_is_not_shown(void)
{
    static const char *const forms[] = {
        HEAD "  headers:\n  - name: X-A\n    value:\n      secret\n" ROUTES,
        HEAD "  headers: [{name: X-A, value: \"a\\x62c\"}]\n" ROUTES,
    };
    for (size_t i = 0; i < sizeof forms / sizeof *forms; i++) {
        struct config *config = parse(forms[i]);
        struct td_error err = {0};
        struct buf shown;
        buf_init(&shown, 4096);
        enum td_status status = config_text_hide(config, str_from(forms[i]), &shown, &err);
        CHECK(status == TD_UNSUPPORTED || str_find(buf_view(&shown), STR("secret"), 0) == SIZE_MAX);
        CHECK(status == TD_OK || strstr(err.message, "t.yaml:") == err.message);
        buf_deinit(&shown);
        config_free(config);
    }
}

static void test_what_only_looks_hidden_stays(void)
{
    static const char text[] = HEAD "  headers: [{name: X-A, value: s1}]\n" ROUTES;
    static const char shown[] = "(hidden 0) (hidden 2) (hidden 1) (hidden x) (hidden 1";
    struct config *config = parse(text);
    struct buf again;
    buf_init(&again, 4096);
    config_text_restore(config, STR(shown), &again);
    CHECK(str_equal(buf_view(&again), STR("(hidden 0) (hidden 2) s1 (hidden x) (hidden 1")));
    buf_deinit(&again);
    config_free(config);
}

/* The lines of what is refused, as "3 5". */
static bool refuses(const char *before, const char *after, bool open, const char *lines)
{
    struct config *old = before ? parse(before) : NULL, *new = parse(after);
    struct json *errors = json_new_array();
    struct buf found;
    buf_init(&found, 256);
    buf_append_str(&found, STR(""));
    config_text_refuse(old, new, open, errors);
    for (size_t i = 0; i < json_count(errors); i++)
        buf_printf(&found, "%s%lld", i ? " " : "",
                   (long long)json_int(json_get(json_at(errors, i), "line"), 0));
    bool same = str_equal(buf_view(&found), str_from(lines));
    if (!same)
        fprintf(stderr, STR_FMT "\n", STR_ARG(buf_view(&found)));
    buf_deinit(&found);
    json_free(errors);
    config_free(old);
    config_free(new);
    return same;
}

static void test_without_a_key_only_the_policy_may_change(void)
{
    static const char now[] = HEAD ROUTES;
    CHECK(refuses(now, now, true, ""));
    CHECK(refuses(now, "# moved\n\n" HEAD ROUTES, true, ""));
    CHECK(refuses(now, HEAD ROUTES "  \n", true, ""));
    CHECK(refuses(now, HEAD "routes:\n- {name: auto, kind: hybrid, tiers: [cloud]}\n", true, ""));
    CHECK(refuses(now, HEAD "  place: cloud\n" ROUTES, true, "1"));
    CHECK(refuses(now, HEAD "  place: cloud\n" ROUTES, false, ""));
    CHECK(refuses(now, HEAD ROUTES "log: {level: warn}\n", true, "8"));
    CHECK(refuses(HEAD ROUTES "log: {level: warn}\n", now, true, "1"));
    CHECK(refuses(HEAD ROUTES "log: {level: warn}\n", HEAD ROUTES "log: {level: error}\n", true,
                  "8"));
    CHECK(
        refuses(HEAD ROUTES "log: {level: warn}\n", "log:\n  level: warn\n" HEAD ROUTES, true, ""));
    CHECK(refuses(NULL, now, true, "1"));
}

static void test_a_program_is_changed_by_nobody(void)
{
    CHECK(refuses(HEAD ROUTES, HEAD "  token_command: [a]\n" ROUTES, false, "3"));
    CHECK(refuses(HEAD "  token_command: [a]\n" ROUTES, HEAD "  token_command: [b]\n" ROUTES, false,
                  "3"));
    CHECK(refuses(HEAD "  token_command: [a]\n" ROUTES, HEAD "  token_command: [a, b]\n" ROUTES,
                  false, "3"));
    CHECK(refuses(HEAD "  token_command: [a]\n" ROUTES, HEAD "  token_command: [a]\n" ROUTES, false,
                  ""));
    CHECK(refuses(HEAD "  token_command: [a]\n" ROUTES, HEAD ROUTES, false, ""));
    CHECK(refuses(NULL, HEAD "  token_command: [a]\n" ROUTES, false, "3"));
}

int main(void)
{
    RUN(test_values_of_headers_are_hidden_and_come_back);
    RUN(test_a_value_in_a_form_that_cannot_be_hidden_is_not_shown);
    RUN(test_what_only_looks_hidden_stays);
    RUN(test_without_a_key_only_the_policy_may_change);
    RUN(test_a_program_is_changed_by_nobody);
    return test_finish();
}
