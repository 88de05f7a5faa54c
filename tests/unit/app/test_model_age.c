/* Ages of models, and which pairs of versions count as drifted apart. */
#include "app/setup/model/model_age.h"

#include "app/setup/model/model_version.h"
#include "base/core/str.h"
#include "base/json/json.h"
#include "test.h"

#include <fcntl.h>
#include <sys/stat.h>

static struct json *parse(const char *text)
{
    struct json *value = NULL;
    if (json_parse(str_from(text), &value, NULL) != TD_OK)
        abort();
    return value;
}

#define ROW(tier, version, compared, share, high)                                  \
    "{\"tier\":\"" tier "\",\"shadow\":\"cloud\",\"version\":\"" version           \
    "\",\"shadow_version\":null,\"compared\":" #compared ",\"same_share\":" #share \
    ",\"same_high\":" #high ",\"first_ms\":1764201600000,\"last_ms\":1764288000000}"

static void test_only_the_newest_pair_that_surely_differs_is_named(void)
{
    struct json *list =
        parse("[" ROW("local", "new", 40, 0.2, 0.35) "," ROW("local", "old", 400, 0.1, 0.2) "," ROW(
            "other", "a", 400, 0.45, 0.55) "," ROW("few", "b", 19, 0, 0.1) "]");
    struct model_skew skew;
    size_t at = 0;
    REQUIRE(model_skew_next(list, 0.5, &at, &skew));
    CHECK(strcmp(skew.version, "new") == 0 && skew.compared == 40);
    CHECK(skew.differ > 0.79 && skew.differ < 0.81 && *skew.shadow_version == '\0');
    CHECK(strcmp(skew.first_day, "2025-11-27") == 0 && strcmp(skew.last_day, "2025-11-28") == 0);
    CHECK(!model_skew_next(list, 0.5, &at, &skew));
    at = 0;
    CHECK(!model_skew_next(list, 0.9, &at, &skew));
    json_free(list);
}

static void test_a_file_without_a_manifest_is_as_old_as_its_time(void)
{
    char path[] = "/tmp/tandem-age-XXXXXX", day[MODEL_DAY_BYTES];
    double days;
    int fd = mkstemp(path);
    const struct timespec times[2] = {{1700000000, 0}, {1700000000, 0}};
    REQUIRE(fd >= 0 && futimens(fd, times) == 0);
    REQUIRE(model_age_read(path, (1700000000 + 3 * 86400) * UINT64_C(1000), day, &days));
    CHECK(strcmp(day, "2023-11-14") == 0 && days > 2.99 && days < 3.01);
    CHECK(model_age_read(path, 5, day, &days) && days == 0);
    close(fd);
    unlink(path);
    CHECK(!model_age_read(path, 5, day, &days));
}

static void test_a_version_changes_with_each_of_its_parts(void)
{
    const struct confidence_binding one = {.model = "m", .weights = "a"},
                                    other = {.model = "m", .weights = "b"};
    const char *const adapters[] = {"legal"};
    const struct model_version_parts parts[] = {
        {.identity = &one},
        {.identity = &other},
        {.identity = &one, .tools = &other},
        {.identity = &one, .adapters = adapters, .adapter_count = 1},
        {.identity = &one, .calibration = "00ff"},
    };
    struct model_version made[sizeof parts / sizeof *parts];
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
        struct model_version again;
        model_version_make(&parts[i], &made[i]);
        model_version_make(&parts[i], &again);
        CHECK(strlen(made[i].id) == 16 && strcmp(made[i].id, again.id) == 0);
        json_free(parse(made[i].text));
        for (size_t j = 0; j < i; j++)
            CHECK(strcmp(made[i].id, made[j].id) != 0);
    }
}

int main(void)
{
    RUN(test_only_the_newest_pair_that_surely_differs_is_named);
    RUN(test_a_file_without_a_manifest_is_as_old_as_its_time);
    RUN(test_a_version_changes_with_each_of_its_parts);
    return test_finish();
}
