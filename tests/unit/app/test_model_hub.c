#include "test.h"

#include "app/setup/model/catalog.h"
#include "app/setup/model/hub.h"
#include "app/store/pull_bar.h"
#include "base/core/str.h"
#include "base/json/json.h"

static bool picks(const char *tree, const char *quantization, const char *wanted)
{
    struct json *list = NULL;
    struct td_error err = {0};
    char file[256] = "";
    CHECK(json_parse(str_from(tree), &list, NULL) == TD_OK);
    enum td_status status = hub_pick_file(list, str_from(quantization), file, sizeof file, &err);
    json_free(list);
    return wanted ? status == TD_OK && strcmp(file, wanted) == 0
                  : status == TD_NOT_FOUND && *err.message;
}

static void test_the_plain_file_of_a_quantisation_is_picked(void)
{
    static const char tree[] =
        "[{\"path\":\"m-Q4_K_M.gguf\"},{\"path\":\"m-Q4_K_M-extra.gguf\"},{\"path\":1},"
        "{\"path\":\"m-Q4_K_MX.gguf\"},{\"path\":\"mmproj-F16.gguf\"},{\"path\":\"m.Q8_0.bin\"},"
        "{\"path\":\"big/m-Q6_K-00002-of-00002.gguf\"},{\"path\":\"big/"
        "m-Q6_K-00001-of-00002.gguf\"}"
        ",{\"path\":\"m-IQ3_S\\u0007.gguf\"}]";
    CHECK(picks(tree, "Q4_K_M", "m-Q4_K_M.gguf"));
    CHECK(picks(tree, "q4_k_m", "m-Q4_K_M.gguf"));
    CHECK(picks(tree, "Q6_K", "big/m-Q6_K-00001-of-00002.gguf"));
    CHECK(picks(tree, "Q4_K", NULL)); /* part of a word is another quantisation */
    CHECK(picks(tree, "F16", NULL) && picks(tree, "Q8_0", NULL) && picks(tree, "IQ3_S", NULL));
    CHECK(picks(tree, "", NULL) && picks("[]", "Q8_0", NULL) && picks("{}", "Q8_0", NULL));
}

static void test_a_source_without_a_file_is_asked_about(void)
{
    CHECK(hub_source_is_open("hf:a/b") && hub_source_is_open("hf:a/b:Q8_0"));
    CHECK(hub_source_is_open("hf:a/b@v1") && hub_source_is_open("hf:a/b:Q8_0@v1"));
    CHECK(!hub_source_is_open("hf:a/b:c.gguf") && !hub_source_is_open("hf:a/b:c.gguf@v1"));
    CHECK(!hub_source_is_open("https://h/x") && !hub_source_is_open("x") &&
          !hub_source_is_open(""));
}

static void test_what_a_search_finds_is_plain_text(void)
{
    struct json *answer = NULL;
    CHECK(
        json_parse(STR("[{\"id\":\"a/b\",\"tags\":[1,\"license:mit\"]},{\"id\":\"a/\\u001b\"},7]"),
                   &answer, NULL) == TD_OK);
    struct json *list = hub_read_search(answer);
    CHECK(json_count(list) == 1);
    CHECK(str_equal(json_text(json_get(json_at(list, 0), "licence")), STR("mit")));
    CHECK(json_int(json_get(json_at(list, 0), "downloads"), -1) == 0);
    CHECK(hub_read_search(json_at(answer, 0)) == NULL && hub_read_search(NULL) == NULL);
    json_free(list);
    json_free(answer);
}

static void test_the_bar_fits_every_width(void)
{
    char line[PULL_BAR_BYTES];
    const struct pull_bar bars[] = {
        {"pulling", "qwen3-4b.gguf", 1100000000, 2500000000, 0, 90},
        {"checking", "a-very-long-name-of-a-model-that-is-wider-than-most.gguf", 1, 2, 0, 0},
        {"pulling", "m.gguf", 7000000, UINT64_MAX, 0, 1},
        {"pulling", "m.gguf", 3, 2, 0, 1}, /* a server that lies about the length */
        {"pulling", "m.gguf", 1, UINT64_MAX - 1, 0, 1},
    };
    for (size_t i = 0; i < sizeof bars / sizeof *bars; i++)
        for (unsigned columns = 1; columns < 300; columns++) {
            pull_bar_write(&bars[i], columns, line);
            CHECK(strlen(line) < columns || columns == 1);
        }
    pull_bar_write(&bars[0], 80, line);
    CHECK(strcmp(line, "pulling qwen3-4b.gguf [#####........]  44 % 1.1 of 2.5 GB, 12.2 MB/s, "
                       "1:54 left") == 0);
    pull_bar_write(&bars[0], 120, line);
    CHECK(strstr(line, "pulling qwen3-4b.gguf [##########..............]  44 %"));
    pull_bar_write(&bars[0], 20, line);
    CHECK(strncmp(line, " 44 % 1.1 of 2.5 GB", 19) == 0);
}

static void test_a_catalogue_knows_names_and_days(void)
{
    static const char text[] =
        "{\"checked\":\"2026-01-02\",\"models\":[{\"name\":\"m\",\"also\":[\"m:1b\",3],"
        "\"source\":\"hf:a/b:c.gguf\",\"sha256\":\"0123456789abcdef0123456789abcdef0123456789abcdef"
        "0123456789abcdef\",\"bytes\":9,\"licence\":\"mit\",\"good_at\":\"x\",\"parameters\":2,"
        "\"active\":1,\"context\":8}]}";
    struct catalog *catalog = NULL;
    CHECK(catalog_parse("list", str_from(text), &catalog, NULL) == TD_OK);
    CHECK(catalog_count(catalog) == 1 && catalog_at(catalog, 0)->bytes == 9);
    CHECK(catalog_find(catalog, "M") && catalog_find(catalog, "m:1B"));
    CHECK(catalog_find(catalog, "m:latest") && !catalog_find(catalog, "n"));
    CHECK(!catalog_find(catalog, "") && !catalog_find(catalog, ":latest"));
    CHECK(catalog_days(catalog, 0) == 0);
    CHECK(catalog_days(catalog, UINT64_C(1767312000000) + 2 * UINT64_C(86400000)) == 2);
    catalog_free(catalog);
}

int main(void)
{
    RUN(test_the_plain_file_of_a_quantisation_is_picked);
    RUN(test_a_source_without_a_file_is_asked_about);
    RUN(test_what_a_search_finds_is_plain_text);
    RUN(test_the_bar_fits_every_width);
    RUN(test_a_catalogue_knows_names_and_days);
    return test_finish();
}
