/* The addresses are those of Hugging Face's API. A source of a repository is made into one of a
 * file by the list of its files, so that everything behind it - resuming, hashes, the record - is
 * the same for both. */
#include "app/setup/model/hub.h"

#include "app/setup/credentials/fetch.h"
#include "app/setup/model/model_source.h"
#include "base/bytes/path.h"
#include "base/core/ascii.h"
#include "base/core/error.h"
#include "base/core/str.h"
#include "base/json/json.h"
#include "net/download/download_url.h"

#include <stdio.h>
#include <stdlib.h>

#define ANSWER_BYTES_MAX (8u << 20)
#define CONNECT_MS 15000
#define TOTAL_MS 60000
#define SHOWN_MAX 12 /* files of a repository in a message */
#define FOUND_MAX "20"

static bool is_plain(struct td_str text)
{
    for (size_t i = 0; i < text.len; i++)
        if (text.data[i] <= ' ' || text.data[i] > '~')
            return false;
    return text.len > 0 && text.len <= 200;
}

/* --- asking --- */

/* The token goes where `models pull` sends it, and nowhere else. */
static enum td_status ask(const struct hub *hub, const char *url, struct json **out,
                          struct td_error *err)
{
    const char *token = getenv("HF_TOKEN");
    char bearer[1024] = "";
    const char *headers[] = {"Accept: application/json", NULL, NULL};
    struct buf answer;
    int code = 0;
    *out = NULL;
    if (token && *token && strlen(token) < 900 && is_plain(str_from(token)) &&
        download_url_may_see_token(url, hub->token_origin)) {
        snprintf(bearer, sizeof bearer, "Authorization: Bearer %s", token);
        headers[1] = bearer;
    }
    const struct fetch_ask request = {.method = "GET",
                                      .url = url,
                                      .headers = headers,
                                      .ca_file = hub->ca_file,
                                      .connect_ms = CONNECT_MS,
                                      .total_ms = TOTAL_MS,
                                      .cancel = hub->cancel};
    buf_init(&answer, ANSWER_BYTES_MAX);
    enum td_status status = fetch_now(&request, &answer, &code, err);
    if (status != TD_OK)
        error_prefix(err, "%.300s", hub->endpoint);
    else if (code == 401 || code == 404)
        status = error_set(err, TD_NOT_FOUND,
                           "%.300s has no such repository, or wants HF_TOKEN for it (%d)",
                           hub->endpoint, code);
    else if (code != 200)
        status = error_set(err, TD_UNAVAILABLE, "%.300s answered %d; try again later",
                           hub->endpoint, code);
    else if (json_parse(buf_view(&answer), out, NULL) != TD_OK)
        status = error_set(err, TD_CORRUPT, "%.300s answered with something else than a list",
                           hub->endpoint);
    buf_deinit(&answer);
    return status;
}

/* --- the files of a repository --- */

/* hf:ORG/REPO[@REV][:QUANT[@REV]] */
struct open_source {
    struct td_str repo, quantization, revision;
};

static struct td_str cut_revision(struct td_str *text, struct td_str otherwise)
{
    for (size_t i = text->len; i > 0; i--)
        if (text->data[i - 1] == '@') {
            struct td_str revision = str_slice(*text, i, text->len);
            text->len = i - 1;
            return revision;
        }
    return otherwise;
}

static struct open_source split(const char *source)
{
    struct open_source out = {.revision = STR("main")};
    struct td_str rest = str_slice(str_from(source), 3, strlen(source));
    str_next(&rest, ':', &out.repo);
    out.quantization = rest;
    out.revision = cut_revision(&out.repo, out.revision);
    out.revision = cut_revision(&out.quantization, out.revision);
    if (out.quantization.len == 0)
        out.quantization = STR(HUB_QUANTIZATION);
    return out;
}

bool hub_source_is_open(const char *source)
{
    if (!str_starts_with(str_from(source), STR("hf:")))
        return false;
    return !str_ends_with(split(source).quantization, STR(".gguf"));
}

/* In either case; Q4_K is not in Q4_K_M. */
static bool has_word(struct td_str text, struct td_str word)
{
    for (size_t i = 0; i + word.len <= text.len; i++) {
        int before = i > 0 ? text.data[i - 1] : ' ';
        int after = i + word.len < text.len ? text.data[i + word.len] : ' ';
        if (str_equal_nocase(str_slice(text, i, i + word.len), word) && !ascii_is_alnum(before) &&
            !ascii_is_alnum(after) && after != '_')
            return true;
    }
    return false;
}

/* Files for images and sound (mmproj) are no models of their own. Of several the shortest path is
 * the plain one: others say more, such as "-00002-of-00002". */
static bool is_better(struct td_str path, struct td_str best)
{
    if (!str_ends_with(path, STR(".gguf")) || !is_plain(path) ||
        str_find(path, STR("mmproj"), 0) != SIZE_MAX ||
        str_find(path, STR("imatrix"), 0) != SIZE_MAX)
        return false;
    return !best.len || path.len < best.len ||
           (path.len == best.len && memcmp(path.data, best.data, path.len) < 0);
}

static enum td_status fail_to_pick(const struct json *tree, struct td_str quantization,
                                   struct td_error *err)
{
    struct buf list;
    size_t shown = 0;
    buf_init(&list, 4096);
    for (size_t i = 0; i < json_count(tree) && shown < SHOWN_MAX; i++) {
        struct td_str path = json_text(json_get(json_at(tree, i), "path"));
        if (!is_better(path, STR("")))
            continue;
        buf_printf(&list, "%s" STR_FMT, shown++ ? ", " : "", STR_ARG(path));
    }
    enum td_status status =
        error_set(err, TD_NOT_FOUND, "no GGUF file of it is called " STR_FMT "; it has %.*s%s",
                  STR_ARG(str_slice(quantization, 0, 60)), (int)(shown ? list.len : 4),
                  shown ? list.data : "none", shown == SHOWN_MAX ? ", ..." : "");
    buf_deinit(&list);
    return status;
}

enum td_status hub_pick_file(const struct json *tree, struct td_str quantization, char *file,
                             size_t size, struct td_error *err)
{
    struct td_str best = STR("");
    for (size_t i = 0; i < json_count(tree) && quantization.len; i++) {
        struct td_str path = json_text(json_get(json_at(tree, i), "path"));
        if (has_word(path, quantization) && is_better(path, best))
            best = path;
    }
    if (!best.len)
        return fail_to_pick(tree, quantization, err);
    return path_format(file, size, err, STR_FMT, STR_ARG(best));
}

/* ENDPOINT/ORG/REPO/resolve/REV/x.gguf, which is checked and encoded, has all that the address of
 * the list needs. */
static enum td_status write_list_address(const struct hub *hub, const struct open_source *open,
                                         char *out, size_t size, struct td_error *err)
{
    char named[1024];
    struct model_source source;
    size_t base = strlen(hub->endpoint);
    while (base && hub->endpoint[base - 1] == '/')
        base--;
    enum td_status status =
        path_format(named, sizeof named, err, "hf:" STR_FMT "@" STR_FMT ":x.gguf",
                    STR_ARG(open->repo), STR_ARG(open->revision));
    if (status == TD_OK)
        status = model_source_parse(named, hub->endpoint, NULL, &source, err);
    if (status != TD_OK)
        return status;
    const char *repo = source.where + base, *end = strstr(repo, "/resolve/");
    const char *last = strrchr(source.where, '/');
    if (!end || !last)
        return error_set(err, TD_INVALID, "'%.100s' is not a repository", named);
    return path_format(out, size, err, "%.*s/api/models%.*s/tree/%.*s?recursive=true", (int)base,
                       hub->endpoint, (int)(end - repo), repo, (int)(last - end - 9), end + 9);
}

enum td_status hub_resolve(const struct hub *hub, const char *source, char *out, size_t size,
                           struct td_error *err)
{
    char url[4096], file[256];
    struct json *tree = NULL;
    struct open_source open = split(source);
    enum td_status status = write_list_address(hub, &open, url, sizeof url, err);
    if (status == TD_OK)
        status = ask(hub, url, &tree, err);
    if (status == TD_OK)
        status = hub_pick_file(tree, open.quantization, file, sizeof file, err);
    json_free(tree);
    if (status != TD_OK) {
        error_prefix(err, "%.200s", source);
        return status;
    }
    return path_format(out, size, err, "hf:" STR_FMT "@" STR_FMT ":%s", STR_ARG(open.repo),
                       STR_ARG(open.revision), file);
}

/* --- searching --- */

static const char *licence_of(const struct json *row)
{
    const struct json *tags = json_get(row, "tags");
    for (size_t i = 0; i < json_count(tags); i++) {
        const char *tag = json_cstr(json_at(tags, i));
        if (tag && strncmp(tag, "license:", 8) == 0 && is_plain(str_from(tag + 8)))
            return tag + 8;
    }
    return "?";
}

struct json *hub_read_search(const struct json *answer)
{
    if (json_kind_of(answer) != JSON_KIND_ARRAY)
        return NULL;
    struct json *list = json_new_array();
    for (size_t i = 0; i < json_count(answer); i++) {
        const struct json *row = json_at(answer, i);
        struct td_str name = json_text(json_get(row, "id"));
        if (!is_plain(name))
            continue;
        struct json *object = json_new_object();
        json_put(object, "name", json_new_text(name));
        json_put(object, "downloads", json_new_int(json_int(json_get(row, "downloads"), 0)));
        json_put(object, "licence", json_new_cstr(licence_of(row)));
        json_push(list, object);
    }
    return list;
}

enum td_status hub_search(const struct hub *hub, const char *words, struct json **out,
                          struct td_error *err)
{
    struct buf url;
    struct json *answer = NULL;
    size_t base = strlen(hub->endpoint);
    while (base && hub->endpoint[base - 1] == '/')
        base--;
    *out = NULL;
    buf_init(&url, 4096);
    buf_printf(
        &url, "%.*s/api/models?filter=gguf&sort=downloads&direction=-1&limit=" FOUND_MAX "&search=",
        (int)base, hub->endpoint);
    for (; *words; words++)
        buf_printf(&url, ascii_is_alnum((unsigned char)*words) ? "%c" : "%%%02X",
                   (unsigned)(unsigned char)*words);
    enum td_status status = url.failed ? error_set(err, TD_LIMIT, "these words are too long")
                                       : ask(hub, url.data, &answer, err);
    if (status == TD_OK && !(*out = hub_read_search(answer)))
        status = error_set(err, TD_CORRUPT, "%.300s answered with something else than a list",
                           hub->endpoint);
    json_free(answer);
    buf_deinit(&url);
    return status;
}
