/* tandem egress: what left the device, and the proof of it. The verbs are rows of a table; what they
 * read is ledger/egress_read.h's, the proof is ledger/egress_verify.h's. */
#include "app/cli/command.h"
#include "app/cli/options.h"
#include "app/config/config.h"
#include "base/buf.h"
#include "base/clock.h"
#include "base/error.h"
#include "base/json.h"
#include "base/str.h"
#include "ledger/egress_verify.h"

#include <errno.h>
#include <stdio.h>
#include <sys/stat.h>

#define KEPT_BYTES_MAX (16 << 20)

/* The record that a command is asked about: a file that was exported, or the configuration's
 * folder. */
static enum td_status find_record(const char *config_path, const char *named,
                                  struct config **config, const char **path, struct td_error *err)
{
    enum td_status status = config_load(config_path, NULL, NULL, config, err);
    if (status != TD_OK)
        return status;
    *path = named ? named : (*config)->ledger.egress;
    struct stat info;
    if (strcmp(*path, "none") == 0)
        return error_set(err, TD_NOT_FOUND,
                         "ledger.egress is none: it is not recorded what leaves");
    if (stat(*path, &info) != 0)
        return error_set(err, TD_NOT_FOUND,
                         "%s: %s: nothing has left yet, or the record was removed", *path,
                         strerror(errno));
    return TD_OK;
}

/* --- show --- */

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
    struct json *entry = NULL;
    if (!egress_is_entry(line))
        return TD_OK;
    if (json_parse(line, &entry, NULL) != TD_OK)
        return error_set(err, TD_CORRUPT, "a line is damaged: see tandem egress verify");
    bool wanted = strcmp(text_of(entry, "time"), show->since) >= 0;
    if (show->exchange)
        wanted = wanted &&
                 str_starts_with(json_text(json_get(entry, "exchange")), str_from(show->exchange));
    if (wanted && show->json)
        printf("%s" STR_FMT, show->count ? "," : "", STR_ARG(line));
    else if (wanted)
        print_entry(entry);
    if (wanted) {
        show->count++;
        show->bytes += (uint64_t)json_int(json_get(entry, "bytes"), 0);
    }
    json_free(entry);
    return TD_OK;
}

static int egress_show(int argc, char **argv)
{
    const char *config_path = NULL, *since = "all", *path;
    struct show show = {0};
    const struct option options[] = {
        OPTION_ROW_CONFIG(config_path),
        {"exchange", 'x', OPTION_TEXT, &show.exchange, "ID",
         "of this exchange; a beginning will do", 0, 0},
        {"since", 's', OPTION_TEXT, &since, "SPAN", "90s, 15m, 24h, 7d; default all", 0, 0},
        OPTION_ROW_JSON(show.json),
    };
    const struct option_spec spec = {
        "egress show",
        "",
        "Lists what left the device: when, for which exchange, where to, how many bytes, their\n"
        "class and what was replaced in them, oldest first.",
        options,
        sizeof options / sizeof *options,
        0};
    OPTIONS_PARSE_OR_RETURN(&spec, argc, argv, NULL, NULL);
    uint64_t since_wall_ms;
    if (!command_parse_since(since, clock_wall_ms(NULL), &since_wall_ms)) {
        fprintf(stderr, "tandem egress show: --since reads 90s, 15m, 24h, 7d or all, not '%s'\n",
                since);
        return 2;
    }
    clock_format_iso8601(since_wall_ms, show.since);
    struct td_error err = {0};
    struct config *config = NULL;
    enum td_status status = find_record(config_path, NULL, &config, &path, &err);
    if (status == TD_OK) {
        printf("%s", show.json ? "{\"transfers\":[" : "");
        status = egress_each_line(path, show_line, &show, &err);
        printf(show.json ? "],\"count\":%llu,\"bytes\":%llu}\n" : "%llu transfers, %llu bytes\n",
               (unsigned long long)show.count, (unsigned long long)show.bytes);
    }
    config_free(config);
    return status == TD_OK ? 0 : command_fail("egress show", &err);
}

/* --- verify --- */

static void print_verdict(const struct egress_verdict *verdict, const char *path, bool json)
{
    if (json) {
        struct json *object = json_new_object();
        json_put(object, "sound", json_new_bool(verdict->sound));
        json_put(object, "transfers", json_new_int((int64_t)verdict->entry_count));
        json_put(object, "heads", json_new_int((int64_t)verdict->head_count));
        json_put(object, "bad_row",
                 verdict->bad_row ? json_new_int((int64_t)verdict->bad_row) : json_new_null());
        json_put(object, "problem", json_new_cstr(verdict->sound ? NULL : verdict->problem));
        json_put(object, "unsigned_rows", json_new_int((int64_t)verdict->unsigned_rows));
        json_put(object, "unwritten_rows", json_new_int((int64_t)verdict->unwritten_rows));
        json_put(object, "key", json_new_cstr(verdict->key[0] ? verdict->key : NULL));
        command_print_json(object);
        return;
    }
    if (!verdict->sound) {
        printf("%s is not sound: %s\n", path, verdict->problem);
        return;
    }
    printf("%s is sound: %llu transfers in one chain, %llu signed heads, key %s\n", path,
           (unsigned long long)verdict->entry_count, (unsigned long long)verdict->head_count,
           verdict->key[0] ? verdict->key : "(none)");
    if (verdict->unsigned_rows)
        printf("the last row was announced and is not signed yet: the machine stopped in the "
               "middle of "
               "that transfer\n");
    if (verdict->unwritten_rows)
        printf(
            "one more row was announced and never written: the machine stopped before anything of "
            "that transfer left\n");
}

static enum td_status read_kept_heads(const char *path, struct buf *out, struct td_error *err)
{
    enum td_status status = buf_read_file(out, path, err);
    return status == TD_OK && str_trim(buf_view(out)).len == 0
               ? error_set(err, TD_INVALID, "%s is empty: it holds no head", path)
               : status;
}

static int egress_verify_verb(int argc, char **argv)
{
    const char *config_path = NULL, *head = NULL, *path, *named[1] = {NULL};
    struct egress_kept kept = {0};
    bool json = false;
    size_t count = 0;
    const struct option options[] = {
        OPTION_ROW_CONFIG(config_path),
        {"key", 'k', OPTION_TEXT, &kept.key, "HEX",
         "the public key that must have signed, kept elsewhere", 0, 0},
        {"head", 'H', OPTION_TEXT, &head, "FILE",
         "heads that were kept elsewhere, which it must still contain", 0, 0},
        OPTION_ROW_JSON(json),
    };
    const struct option_spec spec = {
        "egress verify",
        "[FILE]",
        "Checks the chain of what left and the signed heads: a changed byte, a row that is gone, "
        "a\n"
        "cut tail and a forged head are found, and the first bad row is named (exit code 1). FILE\n"
        "is what 'tandem egress export' wrote; without one the record of this machine is checked.",
        options,
        sizeof options / sizeof *options,
        1};
    OPTIONS_PARSE_OR_RETURN(&spec, argc, argv, named, &count);
    if (kept.key && strlen(kept.key) != EGRESS_KEY_HEX) {
        fprintf(stderr, "tandem egress verify: --key needs 64 hex digits\n");
        return 2;
    }
    struct td_error err = {0};
    struct config *config = NULL;
    struct egress_verdict verdict;
    struct buf heads;
    buf_init(&heads, KEPT_BYTES_MAX);
    enum td_status status = find_record(config_path, named[0], &config, &path, &err);
    if (status == TD_OK && head)
        status = read_kept_heads(head, &heads, &err);
    kept.heads = buf_view(&heads);
    if (status == TD_OK)
        status = egress_verify(path, &kept, &verdict, &err);
    if (status == TD_OK)
        print_verdict(&verdict, path, json);
    buf_deinit(&heads);
    config_free(config);
    if (status != TD_OK)
        return command_fail("egress verify", &err);
    return verdict.sound ? 0 : 1;
}

/* --- head --- */

static enum td_status keep_head(void *ctx, struct td_str line, struct td_error *err)
{
    struct buf *last = ctx;
    if (egress_is_entry(line))
        return TD_CANCELLED; /* heads stand before */
    if (!str_starts_with(line, STR("{\"date\":")))
        return TD_OK;
    buf_clear(last);
    buf_append_str(last, line);
    return last->failed ? error_set(err, TD_LIMIT, "a head is over %d bytes", KEPT_BYTES_MAX)
                        : TD_OK;
}

/* The newest of a sound record: one that is not worth keeping is not printed. */
static enum td_status find_head(const char *path, struct buf *out, struct td_error *err)
{
    struct egress_verdict verdict;
    enum td_status status = egress_verify(path, NULL, &verdict, err);
    if (status == TD_OK && !verdict.sound)
        status = error_set(err, TD_CORRUPT, "%s is not sound: %s", path, verdict.problem);
    if (status == TD_OK && (status = egress_each_line(path, keep_head, out, err)) == TD_CANCELLED)
        status = TD_OK;
    return status == TD_OK && out->len == 0
               ? error_set(err, TD_NOT_FOUND, "%s has no signed head yet", path)
               : status;
}

static int egress_head(int argc, char **argv)
{
    const char *config_path = NULL, *path;
    const struct option options[] = {OPTION_ROW_CONFIG(config_path)};
    const struct option_spec spec = {"egress head",
                                     "",
                                     "Prints the newest signed head as one line, to keep "
                                     "elsewhere: on another machine, in a mail,\n"
                                     "on paper. With it 'tandem egress verify --head FILE' finds a "
                                     "record that was put back to an\n"
                                     "earlier state.",
                                     options,
                                     sizeof options / sizeof *options,
                                     0};
    OPTIONS_PARSE_OR_RETURN(&spec, argc, argv, NULL, NULL);
    struct td_error err = {0};
    struct config *config = NULL;
    struct buf head;
    buf_init(&head, KEPT_BYTES_MAX);
    enum td_status status = find_record(config_path, NULL, &config, &path, &err);
    if (status == TD_OK)
        status = find_head(path, &head, &err);
    if (status == TD_OK)
        printf(STR_FMT "\n", STR_ARG(buf_view(&head)));
    buf_deinit(&head);
    config_free(config);
    return status == TD_OK ? 0 : command_fail("egress head", &err);
}

/* --- export, key --- */

static enum td_status export_line(void *ctx, struct td_str line, struct td_error *err)
{
    FILE *out = ctx;
    if (fwrite(line.data, 1, line.len, out) != line.len || fputc('\n', out) == EOF)
        return error_set(err, TD_IO, "cannot write: %s", strerror(errno));
    return TD_OK;
}

static int egress_export(int argc, char **argv)
{
    const char *config_path = NULL, *output = NULL, *path;
    const struct option options[] = {
        OPTION_ROW_CONFIG(config_path),
        {"output", 'o', OPTION_TEXT, &output, "FILE", "default standard output", 0, 0},
    };
    const struct option_spec spec = {
        "egress export",
        "",
        "Writes public key, signed heads and all transfers as JSON lines. Who has the file checks\n"
        "it with 'tandem egress verify FILE', or without this program: tools/verify_egress.py.",
        options,
        sizeof options / sizeof *options,
        0};
    OPTIONS_PARSE_OR_RETURN(&spec, argc, argv, NULL, NULL);
    struct td_error err = {0};
    struct config *config = NULL;
    enum td_status status = find_record(config_path, NULL, &config, &path, &err);
    FILE *out = stdout;
    if (status == TD_OK && output && !(out = fopen(output, "wbe")))
        status = error_set(&err, TD_IO, "%s: %s", output, strerror(errno));
    if (status == TD_OK)
        status = egress_each_line(path, export_line, out, &err);
    if (out && (out == stdout ? fflush(out) : fclose(out)) != 0 && status == TD_OK)
        status = error_set(&err, TD_IO, "cannot write: %s", strerror(errno));
    config_free(config);
    return status == TD_OK ? 0 : command_fail("egress export", &err);
}

static enum td_status key_line(void *ctx, struct td_str line, struct td_error *err)
{
    struct json *object = NULL, **key = ctx;
    (void)err;
    if (egress_is_entry(line) || json_parse(line, &object, NULL) != TD_OK ||
        json_kind_of(json_get(object, "public_key")) == JSON_KIND_ABSENT) {
        json_free(object);
        return TD_CANCELLED; /* it stands in the first line */
    }
    *key = object;
    return TD_CANCELLED;
}

static int egress_key(int argc, char **argv)
{
    const char *config_path = NULL, *path;
    bool json = false;
    const struct option options[] = {OPTION_ROW_CONFIG(config_path), OPTION_ROW_JSON(json)};
    const struct option_spec spec = {
        "egress key",
        "",
        "Prints the public key that signs the heads. Kept elsewhere, it shows a record that was\n"
        "made anew: tandem egress verify --key.",
        options,
        sizeof options / sizeof *options,
        0};
    OPTIONS_PARSE_OR_RETURN(&spec, argc, argv, NULL, NULL);
    struct td_error err = {0};
    struct config *config = NULL;
    struct json *key = NULL;
    enum td_status status = find_record(config_path, NULL, &config, &path, &err);
    if (status == TD_OK)
        status = egress_each_line(path, key_line, &key, &err);
    if ((status == TD_OK || status == TD_CANCELLED) && !key)
        status = error_set(&err, TD_NOT_FOUND, "%s has no public key yet", path);
    config_free(config);
    if (!key)
        return command_fail("egress key", &err);
    if (json)
        return command_print_json(key) ? 0 : 1;
    printf("%s\n", json_cstr(json_get(key, "public_key")));
    json_free(key);
    return 0;
}

int cmd_egress(int argc, char **argv)
{
    static const struct command_verb verbs[] = {
        {"show", egress_show, "what left, where to, how much, of which class"},
        {"verify", egress_verify_verb, "check the chain and the signed heads"},
        {"export", egress_export, "all of it as one file that others can check"},
        {"head", egress_head, "the newest signed head, to keep elsewhere"},
        {"key", egress_key, "the public key"},
    };
    return command_run_verb("egress", verbs, sizeof verbs / sizeof *verbs, argc, argv);
}
