/* What a key may do, as JSON: what is read is what is written, and a slip is refused. */
#include "base/core/str.h"
#include "base/json/json.h"
#include "base/key_terms.h"
#include "base/text/names.h"
#include "test.h"

static enum td_status read_terms(const char *text, struct key_terms *terms, const char **member,
                                 struct td_error *err)
{
    struct json *object = NULL;
    static char named[128];
    *err = (struct td_error){0};
    CHECK(json_parse(str_from(text), &object, NULL) == TD_OK);
    enum td_status status = key_terms_read(object, terms, member, err);
    if (member && *member) {
        snprintf(named, sizeof named, "%s", *member);
        *member = named;
    }
    json_free(object);
    return status;
}

static void test_terms_are_written_as_they_were_read(void)
{
    static const char text[] =
        "{\"requests_per_minute\":60,\"tokens_per_minute\":100000,\"usd_per_day\":1.5,"
        "\"usd_per_month\":20.0,\"tokens_per_day\":5000000000,\"tokens_per_month\":7,"
        "\"when_spent\":\"local\",\"weight\":3,\"models\":[\"auto\",\"gpt-*\"],"
        "\"tiers\":[\"local\"],\"classes\":[\"public\",\"restricted\"],"
        "\"role\":\"reviewer\",\"clearance\":\"sensitive\"}";
    struct key_terms terms = key_terms_none;
    struct td_error err;
    const char *member = NULL;
    CHECK(read_terms(text, &terms, &member, &err) == TD_OK);
    CHECK(terms.requests_per_minute == 60 && terms.tokens[KEY_DAY] == 5000000000u);
    CHECK(terms.reviews && terms.clearance == TD_CLASS_SENSITIVE + 1);
    CHECK(terms.local_when_spent && terms.weight == 3 && terms.classes == 9);
    CHECK(strcmp(terms.models, "auto,gpt-*") == 0);
    struct json *object = json_new_object();
    struct buf out;
    buf_init(&out, 4096);
    key_terms_put(&terms, object);
    json_write(object, &out);
    CHECK(str_equal(buf_view(&out), STR(text)));
    buf_deinit(&out);
    json_free(object);
}

static void test_what_is_not_named_stays_and_null_lifts(void)
{
    struct key_terms terms = key_terms_none;
    struct td_error err;
    CHECK(read_terms("{\"usd_per_day\":5,\"models\":[\"a\"],\"weight\":2}", &terms, NULL, &err) ==
          TD_OK);
    CHECK(read_terms("{\"tokens_per_day\":9}", &terms, NULL, &err) == TD_OK);
    CHECK(terms.usd[KEY_DAY] > 4.9 && terms.tokens[KEY_DAY] == 9 && terms.weight == 2);
    CHECK(read_terms("{\"usd_per_day\":null,\"models\":null,\"weight\":null,"
                     "\"tokens_per_day\":null,\"when_spent\":null,\"classes\":null}",
                     &terms, NULL, &err) == TD_OK);
    CHECK(memcmp(&terms, &key_terms_none, sizeof terms) == 0);
}

static void test_a_slip_is_refused_with_its_place_and_changes_nothing(void)
{
    static const struct {
        const char *text, *member;
    } cases[] = {
        {"{\"usd_per_day\":1,\"usd_per_dya\":1}", "usd_per_dya"},
        {"{\"usd_per_day\":\"1\"}", "usd_per_day"},
        {"{\"usd_per_day\":-1}", "usd_per_day"},
        {"{\"usd_per_day\":1e10}", "usd_per_day"},
        {"{\"requests_per_minute\":1.5}", "requests_per_minute"},
        {"{\"tokens_per_minute\":5000000000}", "tokens_per_minute"},
        {"{\"tokens_per_day\":true}", "tokens_per_day"},
        {"{\"weight\":1001}", "weight"},
        {"{\"when_spent\":\"later\"}", "when_spent"},
        {"{\"models\":\"auto\"}", "models"},
        {"{\"models\":[\"a,b\"]}", "models"},
        {"{\"models\":[\"\"]}", "models"},
        {"{\"models\":[\"a\\nb\"]}", "models"},
        {"{\"tiers\":[1]}", "tiers"},
        {"{\"classes\":[\"secret\"]}", "classes"},
        {"{\"role\":\"boss\"}", "role"},
        {"{\"clearance\":\"secret\"}", "clearance"},
        {"[]", NULL},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct key_terms terms = key_terms_none;
        struct td_error err;
        const char *member = NULL;
        CHECK(read_terms(cases[i].text, &terms, &member, &err) == TD_INVALID);
        CHECK(!cases[i].member || (member && strcmp(member, cases[i].member) == 0));
        CHECK(!cases[i].member || strstr(err.message, cases[i].member));
        CHECK(memcmp(&terms, &key_terms_none, sizeof terms) == 0);
    }
    char text[2048] = "{\"models\":[\"x\"";
    for (int i = 0; i < 300; i++)
        strcat(text, ",\"y\"");
    strcat(text, "]}");
    struct key_terms terms = key_terms_none;
    struct td_error err;
    CHECK(read_terms(text, &terms, NULL, &err) == TD_INVALID);
}

static void test_lists_hold_whole_names(void)
{
    CHECK(key_list_has("", STR("any")) && key_list_has("a,bc", STR("bc")));
    CHECK(!key_list_has("a,bc", STR("b")) && !key_list_has("a,bc", STR("c")));
    CHECK(!key_list_has("a", STR("")) && key_list_has("a", STR("a")));
}

int main(void)
{
    RUN(test_terms_are_written_as_they_were_read);
    RUN(test_what_is_not_named_stays_and_null_lifts);
    RUN(test_a_slip_is_refused_with_its_place_and_changes_nothing);
    RUN(test_lists_hold_whole_names);
    return test_finish();
}
