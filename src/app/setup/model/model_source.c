/* Hugging Face serves the file F of a repository at ENDPOINT/ORG/REPO/resolve/REVISION/F. Each part
 * is checked and written with %XX where it is not plain, so that nothing in it can become a query,
 * a host or a way upwards. */
#include "app/setup/model/model_source.h"

#include "app/setup/model/model_store.h"
#include "base/core/ascii.h"
#include "base/core/error.h"
#include "base/core/str.h"

#include <stdio.h>
#include <unistd.h>

#define REVISION_DEFAULT "main"

struct writer {
    char *out;
    size_t size, len;
    bool full;
};

static void write_char(struct writer *writer, char c)
{
    if (writer->len + 1 >= writer->size) {
        writer->full = true;
        return;
    }
    writer->out[writer->len++] = c;
    writer->out[writer->len] = '\0';
}

static void write_text(struct writer *writer, struct td_str text)
{
    for (size_t i = 0; i < text.len; i++)
        write_char(writer, text.data[i]);
}

/* RFC 3986 2.3: unreserved characters stay. */
static void write_encoded(struct writer *writer, struct td_str part)
{
    static const char digits[] = "0123456789ABCDEF";
    for (size_t i = 0; i < part.len; i++) {
        unsigned char c = (unsigned char)part.data[i];
        if (ascii_is_alnum(c) || c == '-' || c == '.' || c == '_' || c == '~') {
            write_char(writer, (char)c);
            continue;
        }
        write_char(writer, '%');
        write_char(writer, digits[c >> 4]);
        write_char(writer, digits[c & 15]);
    }
}

/* Part of a path: not empty, no step to elsewhere, nothing that is not text. */
static bool part_is_good(struct td_str part)
{
    if (part.len == 0 || part.len > 255 || str_equal(part, STR(".")) || str_equal(part, STR("..")))
        return false;
    for (size_t i = 0; i < part.len; i++)
        if ((unsigned char)part.data[i] < 0x20 || part.data[i] == 0x7f || part.data[i] == '\\')
            return false;
    return true;
}

/* Parts between slashes; how many, or 0 when one is not good. */
static size_t write_path(struct writer *writer, struct td_str path)
{
    size_t count = 0;
    struct td_str part;
    if (path.len == 0 || path.data[path.len - 1] == '/')
        return 0;
    while (str_next(&path, '/', &part)) {
        if (!part_is_good(part))
            return 0;
        if (count++)
            write_char(writer, '/');
        write_encoded(writer, part);
    }
    return count;
}

static struct td_str last_part(struct td_str path)
{
    for (size_t i = path.len; i > 0; i--)
        if (path.data[i - 1] == '/')
            return str_slice(path, i, path.len);
    return path;
}

static void write_decoded(struct writer *writer, struct td_str text)
{
    for (size_t i = 0; i < text.len; i++) {
        int high = i + 2 < text.len && text.data[i] == '%' ? ascii_hex_value(text.data[i + 1]) : -1;
        int low = high >= 2 ? ascii_hex_value(text.data[i + 2]) : -1; /* no control characters */
        write_char(writer, low >= 0 ? (char)(high * 16 + low) : text.data[i]);
        i += low >= 0 ? 2 : 0;
    }
}

static enum td_status set_name(struct model_source *source, const char *wanted, struct td_str from,
                               bool encoded, struct td_error *err)
{
    struct writer writer = {source->name, sizeof source->name, 0, false};
    struct td_str text = wanted ? str_from(wanted) : from;
    if (encoded && !wanted)
        write_decoded(&writer, text);
    else
        write_text(&writer, text);
    if (!str_ends_with((struct td_str){source->name, writer.len}, STR(".gguf")))
        write_text(&writer, STR(".gguf"));
    if (writer.full || !model_name_is_plain(source->name))
        return error_set(
            err, TD_INVALID,
            "'%.100s' cannot be a model's name (letters, digits and ._+- , at most 200); "
            "choose one with --name",
            source->name);
    return TD_OK;
}

/* A hub answers what is asked for: a page, or weights of another format. */
static enum td_status fail_no_gguf(struct td_str repo, struct td_str file, const char *repo_url,
                                   struct td_error *err)
{
    return error_set(err, TD_INVALID,
                     "'" STR_FMT "' is no file that ends in .gguf; if it is a quantisation, write "
                     "the whole name of its file, as in hf:" STR_FMT ":MODEL-Q4_K_M.gguf; "
                     "%.300s/tree/" REVISION_DEFAULT " lists the files",
                     STR_ARG(str_slice(file, 0, 100)), STR_ARG(str_slice(repo, 0, 100)), repo_url);
}

static enum td_status parse_hub(struct td_str text, const char *endpoint, const char *name,
                                struct model_source *out, struct td_error *err)
{
    struct td_str repo, file = text, revision = STR(REVISION_DEFAULT), base = str_from(endpoint);
    bool named = str_next(&file, ':', &repo) && file.len > 0;
    for (size_t i = repo.len; i > 0; i--)
        if (repo.data[i - 1] == '@') {
            revision = str_slice(repo, i, repo.len);
            repo.len = i - 1;
            break;
        }
    for (size_t i = file.len; i > 0; i--)
        if (file.data[i - 1] == '@') {
            revision = str_slice(file, i, file.len);
            file.len = i - 1;
            break;
        }
    while (base.len && base.data[base.len - 1] == '/')
        base.len--;
    struct writer writer = {out->where, sizeof out->where, 0, false};
    write_text(&writer, base);
    write_char(&writer, '/');
    if (write_path(&writer, repo) != 2)
        return error_set(err, TD_INVALID, "'" STR_FMT "' is not a repository; write ORG/REPO",
                         STR_ARG(str_slice(repo, 0, 100)));
    if (!named)
        return error_set(err, TD_INVALID,
                         "hf:" STR_FMT " names no file; write hf:ORG/REPO:FILE.gguf (@REVISION "
                         "behind it for another than " REVISION_DEFAULT
                         "); %.300s/tree/" REVISION_DEFAULT " lists the files",
                         STR_ARG(str_slice(repo, 0, 100)), out->where);
    if (!str_ends_with(file, STR(".gguf")))
        return fail_no_gguf(repo, file, out->where, err);
    write_text(&writer, STR("/resolve/"));
    /* A branch may have a slash in it, which must not look like a folder. */
    if (!part_is_good(revision))
        return error_set(err, TD_INVALID, "the revision after @ is empty or not text");
    write_encoded(&writer, revision);
    write_char(&writer, '/');
    if (write_path(&writer, file) == 0)
        return error_set(err, TD_INVALID, "'" STR_FMT "' is not a file of a repository",
                         STR_ARG(str_slice(file, 0, 100)));
    if (writer.full)
        return error_set(err, TD_INVALID, "the source is too long");
    return set_name(out, name, last_part(file), false, err);
}

static enum td_status parse_url(struct td_str text, const char *name, struct model_source *out,
                                struct td_error *err)
{
    struct writer writer = {out->where, sizeof out->where, 0, false};
    write_text(&writer, text);
    if (writer.full)
        return error_set(err, TD_INVALID, "the source is too long");
    struct td_str path = text, rest = text;
    str_next(&rest, '#', &path);
    rest = path;
    str_next(&rest, '?', &path);
    size_t host = str_find(path, STR("://"), 0) + 3;
    size_t slash = str_find(path, STR("/"), host);
    struct td_str last = slash == SIZE_MAX ? STR("") : last_part(path);
    if (last.len == 0 && !name)
        return error_set(err, TD_INVALID, "the address names no file; choose a name with --name");
    return set_name(out, name, last, true, err);
}

bool model_source_is_file(const char *text)
{
    struct td_str source = str_from(text);
    return !str_starts_with(source, STR("hf:")) && !str_starts_with(source, STR("https://")) &&
           !str_starts_with(source, STR("http://"));
}

enum td_status model_source_parse(const char *text, const char *endpoint, const char *name,
                                  struct model_source *out, struct td_error *err)
{
    struct td_str source = str_from(text);
    *out = (struct model_source){0};
    if (str_starts_with(source, STR("hf:")))
        return parse_hub(str_slice(source, 3, source.len), endpoint, name, out, err);
    if (!model_source_is_file(text))
        return parse_url(source, name, out, err);
    if (access(text, R_OK) != 0)
        return error_set(err, TD_INVALID,
                         "'%.200s' is neither a name that 'tandem models recommend' shows, nor "
                         "hf:ORG/REPO:FILE, nor a http(s) address, nor a file that can be read",
                         text);
    if (snprintf(out->where, sizeof out->where, "%s", text) >= (int)sizeof out->where)
        return error_set(err, TD_INVALID, "the source is too long");
    out->is_file = true;
    return set_name(out, name, last_part(source), false, err);
}
