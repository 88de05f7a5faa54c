#include "cluster/postgres_sql.h"

#include "base/core/ascii.h"
#include "base/text/utf8.h"

#include <stdlib.h>
#include <string.h>

/* Gives each parameter its number on the server, or writes the statement with them. */
static bool walk(const char *sql, struct postgres_parameters *parameters, struct buf *out)
{
    int next = 1;
    char quote = '\0';
    for (const char *at = sql; *at; at++) {
        if (quote ? *at == quote : *at == '\'' || *at == '"')
            quote = quote ? '\0' : *at;
        if (quote || *at != '?') {
            if (out)
                buf_append_char(out, *at);
            continue;
        }
        long number = next;
        if (ascii_is_digit(at[1])) {
            char *end;
            number = strtol(at + 1, &end, 10);
            at = end - 1;
        }
        if (number < 1 || number > PQ_VALUES_MAX)
            return false;
        next = (int)number + 1;
        if (out)
            buf_printf(out, "$%d", parameters->of[number]);
        else
            parameters->of[number] = 1;
    }
    return true;
}

bool postgres_sql_write(const char *sql, struct postgres_parameters *parameters, struct buf *out)
{
    *parameters = (struct postgres_parameters){0};
    if (!walk(sql, parameters, NULL))
        return false;
    for (int i = 1; i <= PQ_VALUES_MAX; i++)
        if (parameters->of[i])
            parameters->of[i] = ++parameters->count;
    return walk(sql, parameters, out) && !out->failed;
}

void postgres_sql_text(struct td_str text, struct buf *out)
{
    char encoded[4];
    size_t valid = utf8_valid_prefix(text);
    if (valid == text.len && !memchr(text.data, '\0', text.len)) {
        buf_append_str(out, text);
        return;
    }
    for (size_t at = 0; at < text.len;) {
        uint32_t character = utf8_next(text, &at);
        buf_append(out, encoded, utf8_encode(character ? character : 0xFFFD, encoded));
    }
}
