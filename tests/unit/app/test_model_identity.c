/* What identifies a model, in one file and in several. */
#include "app/setup/model/model_identity.h"

#include "base/bytes/buf.h"
#include "test.h"

static char folder[64];
static struct buf nano;
static struct td_model *model;

static bool begin(void)
{
    struct td_model_options options = {0};
    snprintf(folder, sizeof folder, "/tmp/tandem-identity-XXXXXX");
    buf_init(&nano, (size_t)64 << 20);
    return mkdtemp(folder) && buf_read_file(&nano, NANO, NULL) == TD_OK &&
           td_model_open(NANO, &options, &model, NULL) == TD_OK;
}

static void end(void)
{
    char command[128];
    snprintf(command, sizeof command, "rm -rf '%s'", folder);
    if (system(command) != 0)
        abort();
    td_model_close(model);
    buf_deinit(&nano);
}

/* The bytes of the model as so many files; path: of the last of them. */
static bool split(unsigned count, char path[static 128])
{
    for (unsigned i = 0; i < count; i++) {
        size_t from = nano.len / count * i,
               to = i + 1 == count ? nano.len : nano.len / count * (i + 1);
        snprintf(path, 128, "%s/m-%05u-of-%05u.gguf", folder, i + 1, count);
        FILE *file = fopen(path, "wb");
        if (!file || fwrite(nano.data + from, 1, to - from, file) != to - from || fclose(file) != 0)
            return false;
    }
    return true;
}

static bool weights_of(const char *path, char out[static CONFIDENCE_DIGEST_BYTES])
{
    struct confidence_binding identity;
    if (model_identity_read(model, path, &identity, NULL) != TD_OK)
        return false;
    memcpy(out, identity.weights, CONFIDENCE_DIGEST_BYTES);
    return true;
}

static void test_all_files_of_a_split_model_are_sampled(void)
{
    char whole[CONFIDENCE_DIGEST_BYTES], parts[CONFIDENCE_DIGEST_BYTES], path[128];
    REQUIRE(begin());
    REQUIRE(weights_of(NANO, whole));
    for (unsigned count = 2; count <= 40; count += 19) {
        REQUIRE(split(count, path) && weights_of(path, parts));
        CHECK(strcmp(whole, parts) == 0);
        nano.data[nano.len - 1] ^= 1; /* the last sample ends there */
        REQUIRE(split(count, path) && weights_of(path, parts));
        CHECK(strcmp(whole, parts) != 0);
        nano.data[nano.len - 1] ^= 1;
    }
    end();
}

static void test_a_part_that_is_missing_is_an_error(void)
{
    char parts[CONFIDENCE_DIGEST_BYTES], path[128];
    REQUIRE(begin());
    REQUIRE(split(3, path));
    CHECK(unlink(path) == 0 && !weights_of(path, parts));
    end();
}

int main(void)
{
    RUN(test_all_files_of_a_split_model_are_sampled);
    RUN(test_a_part_that_is_missing_is_an_error);
    return test_finish();
}
