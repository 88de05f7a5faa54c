#include "base/json/json_writer.h"

#include "base/core/assertion.h"
#include "base/core/str.h"

#include <math.h>

void json_writer_begin(struct json_writer *writer, struct buf *out)
{
    ASSERT(out != NULL);
    *writer = (struct json_writer){.out = out};
}

static void begin_value(struct json_writer *writer, const char *name)
{
    if (writer->more)
        buf_append_char(writer->out, ',');
    writer->more = true;
    if (name == NULL)
        return;
    json_write_text(str_from(name), writer->out);
    buf_append_char(writer->out, ':');
}

void json_writer_open(struct json_writer *writer, const char *name, char bracket)
{
    ASSERT(bracket == '{' || bracket == '[');
    begin_value(writer, name);
    buf_append_char(writer->out, bracket);
    writer->more = false;
}

void json_writer_close(struct json_writer *writer, char bracket)
{
    ASSERT(bracket == '}' || bracket == ']');
    buf_append_char(writer->out, bracket);
    writer->more = true;
}

void json_writer_text(struct json_writer *writer, const char *name, const char *text)
{
    begin_value(writer, name);
    if (text)
        json_write_text(str_from(text), writer->out);
    else
        buf_append_str(writer->out, STR("null"));
}

void json_writer_int(struct json_writer *writer, const char *name, int64_t value)
{
    begin_value(writer, name);
    json_write_int(value, writer->out);
}

void json_writer_double(struct json_writer *writer, const char *name, double value)
{
    begin_value(writer, name);
    if (isfinite(value))
        json_write_double(value, writer->out);
    else
        buf_append_str(writer->out, STR("null"));
}

void json_writer_bool(struct json_writer *writer, const char *name, bool value)
{
    begin_value(writer, name);
    buf_append_str(writer->out, value ? STR("true") : STR("false"));
}

void json_writer_tree(struct json_writer *writer, const char *name, struct json *value)
{
    if (value == NULL)
        return;
    begin_value(writer, name);
    json_write(value, writer->out);
    json_free(value);
}
