#include "api/files/batch_lines.h"

#include "api/wire/embeddings_request.h"
#include "api/wire/openai_request.h"
#include "base/bytes/file.h"
#include "base/core/str.h"
#include "base/json/json.h"

#include <stdarg.h>
#include <unistd.h>

bool batch_lines_open(struct batch_lines *lines, int fd, size_t line_bytes_max)
{
    *lines = (struct batch_lines){.file = fdopen(fd, "r")};
    buf_init(&lines->line, line_bytes_max);
    if (!lines->file)
        close(fd);
    return lines->file != NULL;
}

void batch_lines_close(struct batch_lines *lines)
{
    if (lines->file)
        fclose(lines->file);
    buf_deinit(&lines->line);
    lines->file = NULL;
}

bool batch_lines_next(struct batch_lines *lines)
{
    do {
        if (!file_read_line(lines->file, &lines->line))
            return false;
        lines->in_file++;
    } while (!lines->line.failed && str_trim(buf_view(&lines->line)).len == 0);
    lines->number += lines->begun;
    lines->begun = true;
    return true;
}

/* --- one line --- */

static struct json *refuse(struct json *line, struct batch_line_fault *fault, const char *code,
                           const char *param, const char *format, ...) TD_PRINTF(5, 6);

static struct json *refuse(struct json *line, struct batch_line_fault *fault, const char *code,
                           const char *param, const char *format, ...)
{
    va_list args;
    fault->code = code;
    fault->param = param;
    va_start(args, format);
    vsnprintf(fault->message, sizeof fault->message, format, args);
    va_end(args);
    json_free(line);
    return NULL;
}

struct json *batch_line_read(struct td_str text, const char *endpoint,
                             struct batch_line_fault *fault)
{
    struct json *line = NULL;
    struct td_error err = {0};
    if (openai_request_count_values(text) > EMBEDDINGS_VALUES_MAX)
        return refuse(NULL, fault, "invalid_json_line", NULL,
                      "this line has more than %d JSON values", EMBEDDINGS_VALUES_MAX);
    if (json_parse(text, &line, &err) != TD_OK)
        return refuse(NULL, fault, "invalid_json_line", NULL, "this line: %.150s", err.message);
    struct td_str id = json_text(json_get(line, "custom_id"));
    const struct json *body = json_get(line, "body");
    if (json_kind_of(line) != JSON_KIND_OBJECT)
        return refuse(line, fault, "invalid_json_line", NULL, "this line is not a JSON object");
    if (id.len == 0 || id.len > BATCH_CUSTOM_ID_BYTES_MAX)
        return refuse(line, fault, "invalid_custom_id", "custom_id",
                      "custom_id must be a string of 1 to %d bytes", BATCH_CUSTOM_ID_BYTES_MAX);
    if (!str_equal(json_text(json_get(line, "method")), STR("POST")))
        return refuse(line, fault, "invalid_method", "method", "method must be POST");
    if (!str_equal(json_text(json_get(line, "url")), str_from(endpoint)))
        return refuse(line, fault, "invalid_url", "url", "url must be the batch's endpoint, %s",
                      endpoint);
    if (json_kind_of(body) != JSON_KIND_OBJECT)
        return refuse(line, fault, "invalid_body", "body", "body must be an object");
    if (json_bool(json_get(body, "stream"), false))
        return refuse(line, fault, "invalid_body", "body.stream",
                      "an answer in a batch cannot be streamed");
    if (json_bool(json_get(body, "background"), false))
        return refuse(line, fault, "invalid_body", "body.background",
                      "a request in a batch cannot run in the background");
    return line;
}

bool batch_line_names_user(struct td_str text, const char *user)
{
    struct json *line = NULL;
    if (openai_request_count_values(text) > EMBEDDINGS_VALUES_MAX ||
        json_parse(text, &line, NULL) != TD_OK)
        return str_find(text, str_from(user), 0) != SIZE_MAX;
    const struct json *body = json_get(line, "body");
    const struct json *names[] = {json_get(body, "user"), json_get(body, "safety_identifier"),
                                  json_get(json_get(body, "tandem"), "user")};
    bool found = false;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        found |= str_equal(json_text(names[i]), str_from(user));
    json_free(line);
    return found;
}
