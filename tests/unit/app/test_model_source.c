#include "test.h"

#include "app/setup/model/model_source.h"
#include "app/setup/model/model_store.h"
#include "base/core/str.h"
#include "net/download/download_part.h"

#include <stdlib.h>
#include <unistd.h>

static bool parses(const char *text, const char *where, const char *name)
{
    struct model_source source;
    struct td_error err = {0};
    enum td_status status = model_source_parse(text, "https://hub.example/", NULL, &source, &err);
    if (where == NULL)
        return status == TD_INVALID && *err.message;
    if (status == TD_OK && strcmp(source.where, where) == 0 && strcmp(source.name, name) == 0)
        return true;
    fprintf(stderr, "%s: %s %s %s\n", text, source.where, source.name, err.message);
    return false;
}

static void test_names_of_the_hub_become_addresses(void)
{
    CHECK(parses("hf:a/b:c.gguf", "https://hub.example/a/b/resolve/main/c.gguf", "c.gguf"));
    CHECK(parses("hf:a/b:d/c.gguf@v1", "https://hub.example/a/b/resolve/v1/d/c.gguf", "c.gguf"));
    CHECK(parses("hf:a/b@x/y:c.gguf", "https://hub.example/a/b/resolve/x%2Fy/c.gguf", "c.gguf"));
    CHECK(parses("hf:a/b:c", NULL, NULL));
    CHECK(parses("hf:a/b:c?d#e%41.gguf", NULL, NULL)); /* its name would not be plain ... */
    struct model_source source;
    CHECK(model_source_parse("hf:a/b:c?d#e%41.gguf", "https://h", "n", &source, NULL) == TD_OK);
    CHECK(strcmp(source.where, "https://h/a/b/resolve/main/c%3Fd%23e%2541.gguf") == 0);
    CHECK(strcmp(source.name, "n.gguf") == 0 && !source.is_file);
}

static void test_no_part_of_a_name_leads_elsewhere(void)
{
    static const char *const bad[] = {
        "hf:",
        "hf:a",
        "hf:a/b",
        "hf:a/b:",
        "hf:a:c.gguf",
        "hf:a/b/c:d.gguf",
        "hf:/b:c.gguf",
        "hf:a/:c.gguf",
        "hf:../b:c.gguf",
        "hf:a/..:c.gguf",
        "hf:a/b:../c.gguf",
        "hf:a/b:d/../c.gguf",
        "hf:a/b:/c.gguf",
        "hf:a/b:c.gguf/",
        "hf:a/b:d//c.gguf",
        "hf:a/b:c.gguf@",
        "hf:a/b@:c.gguf",
        "hf:a/b:c.gguf@..",
        "hf:a/b:c\\d.gguf",
        "hf:a/b:c\nd.gguf",
        "hf:a/b:.",
        "hf:a/b:.c.gguf",
        "https://",
        "https://h",
        "https://h/",
        "https://h/?x",
        "https://h/a%2fb",
        "https://h/.x",
        "gopher://h/x",
        "/no/such/file",
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        CHECK(parses(bad[i], NULL, NULL));
}

static void test_addresses_give_their_last_part_as_name(void)
{
    CHECK(parses("https://h/x/m-Q4.gguf?download=true#a", "https://h/x/m-Q4.gguf?download=true#a",
                 "m-Q4.gguf"));
    CHECK(parses("http://h:80/m%2Bv1.gguf", "http://h:80/m%2Bv1.gguf", "m+v1.gguf"));
    CHECK(parses("https://h/%6d%zz", NULL, NULL));
}

static void test_a_hub_s_file_that_is_no_gguf_is_refused_with_what_to_write(void)
{
    static const char *const sources[] = {
        "hf:a/b",       "hf:a/b:", "hf:a/b:Q4_K_M", "hf:a/b:c.safetensors", "hf:a/b:c.gguf.part",
        "hf:a/b:README"};
    for (size_t i = 0; i < sizeof sources / sizeof *sources; i++) {
        struct model_source source;
        struct td_error err = {0};
        CHECK(model_source_parse(sources[i], "https://hub.example", "n", &source, &err) ==
              TD_INVALID);
        CHECK(strstr(err.message, ".gguf") &&
              strstr(err.message, "https://hub.example/a/b/tree/main"));
    }
}

static void test_a_model_s_name_is_never_a_path(void)
{
    CHECK(model_name_is_plain("Llama-3.2-1B_Q4+x.gguf"));
    static const char *const bad[] = {"", ".", "..", ".x", "a/b", "a b", "a\\b", "a\n", "\xc3\xa4"};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        CHECK(!model_name_is_plain(bad[i]));
    char path[512];
    CHECK(!model_store_find("/tmp", "../etc/passwd", path, sizeof path));
}

static void test_a_part_that_somebody_writes_gets_no_name(void)
{
    char path[] = "/tmp/tandem-install-XXXXXX", part[64];
    struct model_origin origin = {.source = "x", .identity = "x"};
    int fd, copied, made = mkstemp(path);
    snprintf(part, sizeof part, "%s.part", path);
    CHECK(made >= 0 && download_part_lock(part, true, &fd, NULL) == TD_OK);
    CHECK(model_store_copy("/proc/self/exe", path, NULL, &copied, NULL) == TD_BUSY);
    CHECK(copied == -1 && access(part, F_OK) == 0);
    const struct model_check check = {.path = path, .part_fd = fd, .sha256_wanted = ""};
    CHECK(model_store_install(&check, &origin, NULL) == TD_CORRUPT); /* empty: no model */
    CHECK(access(part, F_OK) != 0);
    close(fd);
    close(made);
    unlink(path);
}

int main(void)
{
    RUN(test_names_of_the_hub_become_addresses);
    RUN(test_no_part_of_a_name_leads_elsewhere);
    RUN(test_addresses_give_their_last_part_as_name);
    RUN(test_a_hub_s_file_that_is_no_gguf_is_refused_with_what_to_write);
    RUN(test_a_model_s_name_is_never_a_path);
    RUN(test_a_part_that_somebody_writes_gets_no_name);
    return test_finish();
}
