/* Fetch, check, name. What is fetched lies in NAME.gguf.part until its hash and its contents have
 * been checked, so that a model that can be named is always whole. */
#include "app/store/pull.h"

#include "app/cli/command.h"
#include "app/cli/interrupt.h"
#include "app/setup/model/adapter_file.h"
#include "app/setup/model/catalog.h"
#include "app/setup/model/hub.h"
#include "app/setup/model/model_store.h"
#include "app/store/pull_bar.h"
#include "base/bytes/file.h"
#include "base/bytes/path.h"
#include "base/core/str.h"
#include "base/json/json.h"
#include "base/time/clock.h"
#include "engine/gguf/gguf_split.h"
#include "net/download/download_url.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define HASH_REPORT_MS 500

/* --- progress --- */

/* The name as `models list` gives it: without .gguf. */
static struct json *event_new(const struct pull *pull, const char *event)
{
    struct json *object = json_new_object();
    json_put(object, "event", json_new_cstr(event));
    struct td_str name = str_from(pull->source.name);
    json_put(object, "name", json_new_text(str_slice(name, 0, name.len - 5)));
    return object;
}

static void show_bar(struct pull *pull, const char *what, uint64_t bytes, uint64_t total,
                     uint64_t not_counted)
{
    const struct pull_bar bar = {
        .what = what,
        .name = pull->source.name,
        .bytes = bytes,
        .total = total,
        .not_counted = not_counted,
        .seconds = (clock_monotonic_ms(NULL) - pull->begin_ms) / 1000.0,
    };
    pull->bar_shown = pull_bar_show(&bar) || pull->bar_shown;
}

static bool tell(const struct pull *pull, struct json *event)
{
    if (!pull->on_event)
        return command_print_json(event);
    pull->on_event(pull->ctx, event);
    return true;
}

static void tell_bytes(const struct pull *pull, struct json *event, uint64_t bytes, uint64_t total)
{
    json_put(event, "bytes", json_new_int((int64_t)bytes));
    json_put(event, "total", total == UINT64_MAX ? json_new_null() : json_new_int((int64_t)total));
    tell(pull, event);
}

/* What comes after it says all that counts. */
static void end_bar(struct pull *pull)
{
    if (pull->bar_shown)
        fputs("\r\x1b[K", stderr);
    pull->bar_shown = false;
}

static void on_progress(void *ctx, const struct download_progress *progress)
{
    struct pull *pull = ctx;
    if (!pull->json) {
        show_bar(pull, "pulling", progress->bytes, progress->total, progress->resumed_bytes);
        return;
    }
    struct json *object = event_new(pull, "progress");
    json_put(object, "resumed_bytes", json_new_int((int64_t)progress->resumed_bytes));
    json_put(object, "streams", json_new_int(progress->streams));
    tell_bytes(pull, object, progress->bytes, progress->total);
}

static void on_hashed(void *ctx, uint64_t bytes, uint64_t total)
{
    struct pull *pull = ctx;
    double now_ms = clock_monotonic_ms(NULL);
    if ((pull->json && !pull->on_event) || now_ms < pull->hash_report_ms)
        return;
    if (pull->on_event)
        tell_bytes(pull, event_new(pull, "checking"), bytes, total);
    else
        show_bar(pull, "checking", bytes, total, 0);
    pull->hash_report_ms = now_ms + HASH_REPORT_MS;
}

/* --- steps --- */

/* The token belongs to Hugging Face, or to the hub that the same environment names; a mirror out of
 * a configuration file never sees it. */
static void choose_endpoint(struct pull *pull)
{
    const char *endpoint = getenv("HF_ENDPOINT");
    bool from_environment = endpoint && *endpoint;
    pull->token_origin = from_environment ? endpoint : MODEL_ENDPOINT_DEFAULT;
    pull->endpoint = pull->token_origin;
    if (!from_environment && pull->config->models.mirror)
        pull->endpoint = pull->config->models.mirror;
}

/* A file is known by its whole path, whatever folder the command runs in. */
static enum td_status fill_origin(struct pull *pull, struct td_error *err)
{
    struct model_origin *origin = &pull->origin;
    const char *where = pull->source.where;
    char *shown = pull->source.is_file ? realpath(where, NULL)
                                       : download_url_public(where, &origin->source_cut);
    char *identity = pull->source.is_file ? NULL : download_url_identity(where);
    enum td_status status = TD_OK;
    if (!shown || (!identity && !pull->source.is_file))
        status = error_set(err, TD_INVALID, "the source is not a valid URL or file");
    if (status == TD_OK)
        status = path_format(origin->source, sizeof origin->source, err, "%s", shown);
    if (status == TD_OK)
        status = path_format(origin->identity, sizeof origin->identity, err, "%s",
                             identity ? identity : shown);
    free(shown);
    free(identity);
    return status;
}

static enum td_status prepare(struct pull *pull, const char *text, struct td_error *err)
{
    enum td_status status =
        model_source_parse(text, pull->endpoint, pull->name, &pull->source, err);
    if (status != TD_OK)
        return status;
    status = fill_origin(pull, err);
    if (status != TD_OK)
        return status;
    const char *dir = pull->dir ? pull->dir : pull->config->models.dir;
    status = path_join(pull->path, sizeof pull->path, dir, pull->source.name, err);
    return status == TD_OK ? model_store_make(dir, err) : status;
}

static enum td_status fetch(struct pull *pull, struct td_error *err)
{
    if (pull->source.is_file)
        return model_store_copy(pull->source.where, pull->path, pull->cancel, &pull->part_fd, err);
    const char *token = getenv("HF_TOKEN");
    struct download_options options = {
        .url = pull->source.where,
        .path = pull->path,
        .bearer = token && *token ? token : NULL,
        .bearer_origin = pull->token_origin,
        .ca_file = pull->ca_file ? pull->ca_file : pull->config->models.ca_file,
        .bytes_max = (uint64_t)pull->config->models.file_mb_max * 1000000,
        .streams = pull->streams,
        .retry_count = pull->retries,
        .cancel = pull->cancel,
        .on_progress = on_progress,
        .ctx = pull,
    };
    /* A token with a line end in it would write further headers. */
    if (options.bearer && strpbrk(options.bearer, "\r\n"))
        return error_set(err, TD_INVALID, "HF_TOKEN contains a line end; set it again without one");
    enum td_status status = file_check_regular(options.ca_file, err);
    if (status == TD_OK)
        status = download_file(&options, &pull->result, err);
    pull->part_fd = pull->result.part_fd;
    return status;
}

static enum td_status install(struct pull *pull, struct td_error *err)
{
    bool given = *pull->digest != '\0';
    struct model_check check = {
        .path = pull->path,
        .part_fd = pull->part_fd,
        .replace = pull->force,
        .sha256_wanted = given ? pull->digest : pull->result.sha256,
        .sha256_from = given ? pull->digest_from : "the server",
        .cancel = pull->cancel,
        .on_progress = on_hashed,
        .ctx = pull,
    };
    pull->begin_ms = clock_monotonic_ms(NULL);
    return model_store_install(&check, &pull->origin, err);
}

static void print_text(const struct pull *pull, const char *event)
{
    const char *sha256 = pull->origin.sha256;
    struct adapter_file adapter;
    printf("%s %s\nsha256 %s", event, pull->path, *sha256 ? sha256 : "not recorded");
    if (strcmp(event, "pulled") == 0 && *pull->digest)
        printf(" (as %s says)", pull->digest_from);
    else if (strcmp(event, "pulled") == 0)
        fputs(*pull->result.sha256 ? " (as the server says)"
                                   : " (not compared: neither --sha256 nor the server says what it "
                                     "should be)",
              stdout);
    fputc('\n', stdout);
    if (adapter_file_read(pull->path, &adapter))
        printf("a LoRA adapter for %s, rank %u, %llu tensors: --lora %s, or engine.adapters\n",
               *adapter.architecture ? adapter.architecture : "?", adapter.rank_max,
               (unsigned long long)adapter.tensor_count, pull->path);
}

static bool print_done(const struct pull *pull, const char *event)
{
    const char *sha256 = pull->origin.sha256;
    struct adapter_file adapter;
    bool is_adapter = adapter_file_read(pull->path, &adapter);
    if (!pull->json && !pull->quiet)
        print_text(pull, event);
    if (!pull->json)
        return fflush(stdout) == 0;
    struct json *object = event_new(pull, event);
    json_put(object, "path", json_new_cstr(pull->path));
    json_put(object, "kind", json_new_cstr(is_adapter ? "adapter" : "model"));
    if (is_adapter)
        json_put(object, "adapter", adapter_file_to_json(&adapter));
    json_put(object, "sha256", *sha256 ? json_new_cstr(sha256) : json_new_null());
    json_put(object, "verified", json_new_bool(*pull->digest || *pull->result.sha256));
    json_put(object, "source",
             *pull->origin.source ? json_new_cstr(pull->origin.source) : json_new_null());
    if (pull->origin.source_cut)
        json_put(object, "source_cut", json_new_bool(true));
    json_put(object, "resumed_bytes", json_new_int((int64_t)pull->result.resumed_bytes));
    return tell(pull, object);
}

static enum td_status refuse_present(const struct pull *pull, const char *why, const char *which,
                                     struct td_error *err)
{
    return error_set(err, TD_INVALID,
                     "%s exists and %s%.300s; replace it with --force, or choose another name with "
                     "--name",
                     pull->path, why, which);
}

static enum td_status hash_of(const struct pull *pull, const char *path, char *sha256,
                              struct td_error *err)
{
    const struct model_check check = {.path = path, .cancel = pull->cancel};
    return model_store_hash(&check, sha256, err);
}

/* A model that is there is left alone when it is the one that is asked for: the same source, and
 * the content that this source had; or the content that --sha256 asks for, wherever it came from.
 * *pull then says where the present one came from. */
static enum td_status check_present(struct pull *pull, struct td_error *err)
{
    struct model_origin there;
    char sha256[DOWNLOAD_SHA256_HEX + 1] = "";
    enum td_status status = TD_OK;
    model_origin_read(pull->path, &there);
    if (*pull->digest || pull->source.is_file)
        status = hash_of(pull, *pull->digest ? pull->path : pull->source.where, sha256, err);
    if (status != TD_OK)
        return status;
    if (*pull->digest && strcmp(sha256, pull->digest) != 0)
        return refuse_present(pull, "has the SHA-256 ", sha256, err);
    if (!*pull->digest && there.changed)
        return refuse_present(pull, "has changed since it was pulled from ", there.source, err);
    if (!*pull->digest && !there.known)
        return refuse_present(pull, "where it came from is not known", "", err);
    if (!*pull->digest && strcmp(there.identity, pull->origin.identity) != 0)
        return refuse_present(pull, "came from ", there.source, err);
    if (!*pull->digest && *sha256 && strcmp(sha256, there.sha256) != 0)
        return refuse_present(pull, "its source holds another file now: ", there.source, err);
    pull->origin = there;
    if (*sha256)
        memcpy(pull->origin.sha256, sha256, sizeof sha256);
    return TD_OK;
}

static enum td_status run(struct pull *pull, const char *text, bool *printed, struct td_error *err)
{
    enum td_status status = prepare(pull, text, err);
    bool present = status == TD_OK && !pull->force && access(pull->path, F_OK) == 0;
    if (present)
        status = check_present(pull, err);
    if (status != TD_OK)
        return status;
    if (present) {
        *printed = print_done(pull, "present");
        return TD_OK;
    }
    pull->begin_ms = clock_monotonic_ms(NULL);
    status = fetch(pull, err);
    if (status == TD_OK)
        status = install(pull, err);
    if (pull->part_fd >= 0)
        close(pull->part_fd);
    end_bar(pull);
    if (status == TD_OK)
        *printed = print_done(pull, "pulled");
    return status;
}

/* Finds the part's name in a source that names one of the files of a model: a revision or a query
 * may follow it. *end: after ".gguf". */
static bool find_part(const char *text, struct gguf_part_name *part, size_t *end)
{
    for (const char *at = text; (at = strstr(at, ".gguf")); at++) {
        *end = (size_t)(at - text) + 5;
        char *head = strndup(text, *end);
        bool found = head && gguf_part_parse(head, part);
        free(head);
        if (found)
            return true;
    }
    return false;
}

/* All files of a model, each as if it had been named. The first one's path stands for the model. */
static enum td_status run_parts(struct pull *pull, const char *text,
                                const struct gguf_part_name *part, size_t end, bool *printed,
                                struct td_error *err)
{
    const struct pull asked = *pull;
    char source[4400], head[4400], name[MODEL_NAME_BYTES];
    enum td_status status = TD_OK;
    if (*pull->digest)
        return error_set(err, TD_INVALID,
                         "--sha256 is of one file, but the model has %u; each is compared with the "
                         "hash that the server says",
                         part->count);
    for (uint32_t i = 1; status == TD_OK && i <= part->count; i++) {
        struct pull one = asked;
        struct gguf_part_name named = {i, part->count, asked.name ? strlen(asked.name) : 0};
        if (!gguf_part_format(head, sizeof head, text, part, i) ||
            path_format(source, sizeof source, NULL, "%s%s", head, text + end) != TD_OK ||
            (asked.name && !gguf_part_format(name, sizeof name, asked.name, &named, i)))
            return error_set(err, TD_INVALID, "the name of part %u is too long", i);
        one.name = asked.name ? name : NULL;
        status = run(&one, source, printed, err);
        one.name = asked.name;
        if (i == 1)
            *pull = one;
    }
    struct gguf *gguf = NULL;
    if (status == TD_OK)
        status = gguf_open(pull->path, false, &gguf, err);
    gguf_close(gguf);
    return status;
}

/* --- what is meant --- */

/* A page of a file is what people copy; the file itself is beside it. */
static enum td_status write_plain(const char *text, char *out, size_t size, struct td_error *err)
{
    static const char *const hosts[] = {"https://huggingface.co/", "https://hf.co/",
                                        "huggingface.co/", "hf.co/"};
    const char *blob = strstr(text, "/blob/");
    for (size_t i = 0; i < sizeof hosts / sizeof *hosts; i++) {
        const char *rest = text + strlen(hosts[i]);
        if (strncmp(text, hosts[i], strlen(hosts[i])) != 0)
            continue;
        if (blob && i < 2)
            return path_format(out, size, err, "%.*s/resolve/%s", (int)(blob - text), text,
                               blob + 6);
        if (!strstr(rest, "/resolve/"))
            return path_format(out, size, err, "hf:%s", rest);
    }
    return path_format(out, size, err, "%s", text);
}

/* A name of the catalogue stands for its source and its hash. */
static enum td_status use_catalog(struct pull *pull, char *text, size_t size, struct td_error *err)
{
    struct catalog *catalog = NULL;
    struct td_error ignored = {0};
    if (!model_source_is_file(text) || access(text, F_OK) == 0 || strchr(text, '/'))
        return TD_OK;
    enum td_status status = catalog_open(pull->config, &catalog, &ignored);
    if (status != TD_OK && pull->config->models.catalog)
        return error_set(err, status, "%s", ignored.message);
    const struct catalog_model *model = catalog ? catalog_find(catalog, text) : NULL;
    status = TD_OK;
    if (model) {
        if (!pull->quiet && !pull->json)
            fprintf(stderr, "%s: %.1f MB, licence %s\n", model->name, (double)model->bytes / 1e6,
                    model->licence);
        snprintf(pull->known_name, sizeof pull->known_name, "%s", model->name);
        pull->name = pull->name ? pull->name : pull->known_name;
        if (!*pull->digest)
            snprintf(pull->digest, sizeof pull->digest, "%s", model->sha256);
        snprintf(pull->digest_from, sizeof pull->digest_from, "the list of %s",
                 catalog_day(catalog));
        status = path_format(text, size, err, "%s", model->source);
    } else if (catalog && model_name_is_plain(text) && !str_ends_with(str_from(text), STR(".gguf")))
        status = error_set(err, TD_NOT_FOUND,
                           "no model is called '%.100s'%s; 'tandem models recommend' shows those "
                           "with a name, 'tandem models search %.100s' asks the hub",
                           text, catalog_suggest(catalog, text).text, text);
    catalog_free(catalog);
    return status;
}

/* hf:ORG/REPO:FILE.gguf, an address or a path, whichever way it was written. */
static enum td_status find_source(struct pull *pull, const char *text, char *out, size_t size,
                                  struct td_error *err)
{
    char plain[4400];
    const char *ca_file = pull->ca_file ? pull->ca_file : pull->config->models.ca_file;
    enum td_status status = write_plain(text, plain, sizeof plain, err);
    if (status == TD_OK)
        status = use_catalog(pull, plain, sizeof plain, err);
    if (status != TD_OK || !hub_source_is_open(plain))
        return status == TD_OK ? path_format(out, size, err, "%s", plain) : status;
    const struct hub hub = {pull->endpoint, pull->token_origin, ca_file, pull->cancel};
    status = hub_resolve(&hub, plain, out, size, err);
    if (status == TD_OK && !pull->quiet && !pull->json)
        fprintf(stderr, "%s\n", out);
    return status;
}

enum td_status pull_open(struct pull *pull, struct td_error *err)
{
    pull->part_fd = -1;
    snprintf(pull->digest_from, sizeof pull->digest_from, "--sha256");
    if (!pull->cancel)
        pull->cancel = &interrupted;
    enum td_status status = config_load(pull->config_path, &pull->config, err);
    if (status == TD_OK)
        choose_endpoint(pull);
    return status;
}

enum td_status pull_run(struct pull *pull, const char *asked, bool *printed, struct td_error *err)
{
    struct gguf_part_name part;
    size_t end;
    char text[4400];
    enum td_status status = find_source(pull, asked, text, sizeof text, err);
    if (status != TD_OK)
        return status;
    if (find_part(text, &part, &end) && part.count > 1)
        return run_parts(pull, text, &part, end, printed, err);
    return run(pull, text, printed, err);
}
