#include "api/dialects/gemini/gemini_json.h"

#include "base/core/ascii.h"
#include "base/core/assertion.h"
#include "base/core/str.h"

#include <math.h>

#define NAME_BYTES 64
/* 2^53: up to it, a double is the integer that was written. */
#define EXACT_INTEGER_MAX 9007199254740992.0

static void write_snake(const char *name, char out[static NAME_BYTES])
{
    size_t len = 0;
    for (; *name; name++) {
        ASSERT(len + 3 < NAME_BYTES); /* names are literals */
        if (ascii_is_upper(*name))
            out[len++] = '_';
        out[len++] = (char)(ascii_is_upper(*name) ? *name | 0x20 : *name);
    }
    out[len] = '\0';
}

const struct json *gemini_get(const struct json *object, const char *name)
{
    char snake[NAME_BYTES];
    const struct json *value = json_get(object, name);
    if (value)
        return value;
    write_snake(name, snake);
    return json_get(object, snake);
}

bool gemini_is_name(const char *came, const char *name)
{
    char snake[NAME_BYTES];
    write_snake(name, snake);
    return strcmp(came, name) == 0 || strcmp(came, snake) == 0;
}

struct json *gemini_integer(const struct json *value)
{
    double number = json_number(value, 0);
    int64_t integer;
    if (json_kind_of(value) == JSON_KIND_TEXT && str_to_i64(json_text(value), &integer))
        return json_new_int(integer);
    if (json_kind_of(value) == JSON_KIND_DOUBLE && fabs(number) <= EXACT_INTEGER_MAX &&
        floor(number) == number)
        return json_new_int((int64_t)number);
    return json_clone(value);
}
