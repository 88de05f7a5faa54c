/* The limits of every key, made from the tables of keys: the value before the least one, the least,
 * the largest and the one after, and lists that are just short enough and one too long. The limits
 * themselves stand a second time in tests/golden/config_limits.txt, so that one does not change by
 * a slip. */
#include "app/config/keys.h"
#include "base/bytes/arena.h"
#include "base/bytes/buf.h"
#include "base/core/str.h"
#include "test.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

#define DEPTH_MAX 6
#define TEXT_BYTES (1u << 20)

/* From the root to one key. */
struct path {
    const struct config_section *sections[DEPTH_MAX];
    const struct config_key *keys[DEPTH_MAX];
    size_t depth;
};

typedef void key_fn(const struct path *path, void *ctx);

static const struct config_key *leaf_of(const struct path *path)
{
    return path->keys[path->depth - 1];
}

static void each_key(const struct config_section *section, struct path *path, key_fn *visit,
                     void *ctx)
{
    REQUIRE(path->depth < DEPTH_MAX);
    path->sections[path->depth] = section;
    for (size_t i = 0; i < section->key_count; i++) {
        path->keys[path->depth++] = &section->keys[i];
        visit(path, ctx);
        if (keys_has_section(&section->keys[i]))
            each_key(section->keys[i].section, path, visit, ctx);
        path->depth--;
    }
}

static void each(key_fn *visit, void *ctx)
{
    struct path path = {.depth = 0};
    each_key(&keys_root, &path, visit, ctx);
}

static void put_name(const struct path *path, struct buf *out)
{
    for (size_t i = 0; i < path->depth; i++) {
        const struct config_key *key = path->keys[i];
        bool inside = i + 1 < path->depth;
        buf_printf(out, "%s%s%s", i ? "." : "", key->name,
                   inside && key->type == CONFIG_KEY_SECTIONS ? "[0]" : "");
    }
}

/* --- a file with one key --- */

/* What every map of this section must have beside `than`. */
static void put_required(const struct config_section *section, const struct config_key *than,
                         struct buf *out)
{
    for (size_t i = 0; i < section->key_count; i++) {
        const struct config_key *key = &section->keys[i];
        if (!key->required || key == than)
            continue;
        if (key->type == CONFIG_KEY_CHOICE || key->type == CONFIG_KEY_MASK)
            buf_printf(out, "%s: %s, ", key->name, key->choices[0]);
        else if (key->type == CONFIG_KEY_TEXTS)
            buf_printf(out, "%s: [x], ", key->name);
        else if (key->type == CONFIG_KEY_SECTION)
            buf_printf(out, "%s: {}, ", key->name);
        else if (key->type == CONFIG_KEY_TEXT || key->type == CONFIG_KEY_WORDS)
            buf_printf(out, "%s: x, ", key->name);
        else
            buf_printf(out, "%s: %.17g, ", key->name, key->min);
    }
}

static void put_file(const struct path *path, const char *value, struct buf *out)
{
    for (size_t i = 0; i < path->depth; i++) {
        buf_append_char(out, '{');
        put_required(path->sections[i], path->keys[i], out);
        buf_printf(out, "%s: %s", path->keys[i]->name,
                   path->keys[i]->type == CONFIG_KEY_SECTIONS && i + 1 < path->depth ? "[" : "");
    }
    buf_append_str(out, str_from(value));
    for (size_t i = path->depth; i-- > 0;) {
        if (path->keys[i]->type == CONFIG_KEY_SECTIONS && i + 1 < path->depth)
            buf_append_char(out, ']');
        buf_append_char(out, '}');
    }
}

/* Where the value lies. */
static const char *member_of(const struct path *path, const char *base)
{
    for (size_t i = 0; i + 1 < path->depth; i++)
        if (path->keys[i]->type == CONFIG_KEY_SECTIONS)
            memcpy(&base, base + path->keys[i]->offset, sizeof base);
    return base + leaf_of(path)->offset;
}

/* Reads a file with this one value. wanted: what must be stored, NAN = the value must be refused,
 * by the key's name; INFINITY = it is taken, whatever it is. */
static void check_value(const struct path *path, const char *value, double wanted)
{
    struct arena *arena = arena_new(64u << 20);
    struct config *config = arena_alloc(arena, sizeof *config);
    struct yaml_node *tree = NULL;
    struct td_error err = {0};
    struct buf text, name;
    buf_init(&text, TEXT_BYTES);
    buf_init(&name, TEXT_BYTES);
    put_file(path, value, &text);
    put_name(path, &name);
    buf_printf(&name, " must be ");
    bool read = yaml_tree_read("t", buf_view(&text), arena, &tree, &err) == TD_OK;
    enum td_status status =
        read ? keys_read_own("t", &keys_root, tree, arena, config, &err) : TD_INVALID;
    bool right =
        isnan(wanted) ? status == TD_INVALID && strstr(err.message, name.data) : status == TD_OK;
    if (right && isfinite(wanted)) {
        double number;
        uint32_t whole;
        memcpy(&number, member_of(path, (const char *)config), sizeof number);
        memcpy(&whole, member_of(path, (const char *)config), sizeof whole);
        right = wanted == (leaf_of(path)->type == CONFIG_KEY_NUMBER ? number : (double)whole);
    }
    if (!right)
        printf("%.60s... with %.60s: %s\n", name.data, value,
               status == TD_OK ? "taken" : err.message);
    CHECK(right);
    buf_deinit(&text);
    buf_deinit(&name);
    arena_free(arena);
}

static void check_number(const struct path *path, double value, bool taken)
{
    char text[64];
    snprintf(text, sizeof text, "%.17g", value);
    check_value(path, text, taken ? value : (double)NAN);
}

/* --- numbers --- */

static bool is_number(const struct config_key *key)
{
    return key->type == CONFIG_KEY_UINT || key->type == CONFIG_KEY_UINT_ALL ||
           key->type == CONFIG_KEY_NUMBER;
}

static void check_limits(const struct path *path, void *ctx)
{
    static const char *const never[] = {"-1e999", "1e999",    ".nan", "nan",    "inf",
                                        "-.inf",  "\"1\"",    "[1]",  "{a: 1}", "~",
                                        "''",     "0x10000g", "one",  "1s",     "--1"};
    static const char *const never_whole[] = {"1.5",
                                              "1e3",
                                              "0x10",
                                              "4294967296",
                                              "4294967297",
                                              "18446744073709551615",
                                              "18446744073709551616",
                                              "18446744073709551617",
                                              "-1",
                                              "-4294967295"};
    const struct config_key *key = leaf_of(path);
    if (!is_number(key))
        return;
    bool whole = key->type != CONFIG_KEY_NUMBER;
    ++*(size_t *)ctx;
    CHECK(key->min < key->max);
    CHECK(!whole || (key->min >= 0 && key->max <= (double)UINT32_MAX &&
                     key->min == floor(key->min) && key->max == floor(key->max)));
    check_number(path, key->min - 1, false);
    check_number(path, key->min, true);
    check_number(path, key->max, true);
    check_number(path, key->max + 1, false);
    if (!whole) {
        check_number(path, nextafter(key->min, -INFINITY), false);
        check_number(path, nextafter(key->max, INFINITY), false);
        check_number(path, nextafter(key->min, INFINITY), true);
        check_number(path, nextafter(key->max, -INFINITY), true);
    } else {
        check_number(path, key->min + 1, true);
        check_number(path, key->max - 1, true);
    }
    for (size_t i = 0; i < sizeof never / sizeof *never; i++)
        check_value(path, never[i], (double)NAN);
    for (size_t i = 0; whole && i < sizeof never_whole / sizeof *never_whole; i++)
        check_value(path, never_whole[i], (double)NAN);
    check_value(path, "all", key->type == CONFIG_KEY_UINT_ALL ? (double)UINT32_MAX : (double)NAN);
    if (key->otherwise && strcmp(key->otherwise, "all") != 0)
        check_value(path, key->otherwise, strtod(key->otherwise, NULL));
}

static void test_every_number_is_taken_from_its_least_to_its_largest(void)
{
    size_t count = 0;
    each(check_limits, &count);
    CHECK(count >= 100);
}

/* --- lists --- */

static void check_list(const struct path *path, size_t count, bool taken)
{
    const struct config_key *key = leaf_of(path);
    struct buf list;
    buf_init(&list, TEXT_BYTES);
    buf_append_char(&list, '[');
    for (size_t i = 0; i < count; i++) {
        buf_printf(&list, i ? ", " : "");
        if (key->type == CONFIG_KEY_SECTIONS) {
            buf_append_char(&list, '{');
            put_required(key->section, NULL, &list);
            buf_append_char(&list, '}');
        } else {
            buf_append_char(&list, 'x');
        }
    }
    buf_append_char(&list, ']');
    check_value(path, list.data, taken ? (double)INFINITY : (double)NAN);
    buf_deinit(&list);
}

static void check_lengths(const struct path *path, void *ctx)
{
    const struct config_key *key = leaf_of(path);
    if (key->type != CONFIG_KEY_TEXTS && key->type != CONFIG_KEY_WORDS &&
        key->type != CONFIG_KEY_SECTIONS)
        return;
    ++*(size_t *)ctx;
    CHECK(key->max >= 1 && key->max == floor(key->max));
    check_list(path, (size_t)key->max, true);
    check_list(path, (size_t)key->max + 1, false);
    check_list(path, 1, true);
    check_list(path, 0, key->type == CONFIG_KEY_TEXTS);
}

static void test_every_list_has_its_longest_length(void)
{
    size_t count = 0;
    each(check_lengths, &count);
    CHECK(count > 20);
}

/* --- the limits themselves --- */

static void put_limits(const struct path *path, void *ctx)
{
    const struct config_key *key = leaf_of(path);
    struct buf *out = ctx;
    bool list = key->type == CONFIG_KEY_TEXTS || key->type == CONFIG_KEY_WORDS ||
                key->type == CONFIG_KEY_SECTIONS;
    if (!list && !is_number(key))
        return;
    put_name(path, out);
    if (list)
        buf_printf(out, " at most %.10g\n", key->max);
    else
        buf_printf(out, " %.10g to %.10g, else %s\n", key->min, key->max,
                   key->otherwise ? key->otherwise : "none");
}

static void test_the_limits_are_those_that_were_meant(void)
{
    const char *file = GOLDEN "/config_limits.txt";
    struct buf found, wanted;
    buf_init(&found, TEXT_BYTES);
    buf_init(&wanted, TEXT_BYTES);
    each(put_limits, &found);
    CHECK(buf_read_file(&wanted, file, NULL) == TD_OK);
    bool same = str_equal(buf_view(&found), buf_view(&wanted));
    CHECK(same);
    FILE *fresh = same ? NULL : fopen("/tmp/tandem-config_limits.txt", "we");
    if (fresh) {
        fwrite(found.data, 1, found.len, fresh);
        fclose(fresh);
        printf("if the change was meant: cp /tmp/tandem-config_limits.txt %s\n", file);
    }
    buf_deinit(&found);
    buf_deinit(&wanted);
}

int main(void)
{
    RUN(test_every_number_is_taken_from_its_least_to_its_largest);
    RUN(test_every_list_has_its_longest_length);
    RUN(test_the_limits_are_those_that_were_meant);
    return test_finish();
}
