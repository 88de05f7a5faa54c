#include "app/cli/csv.h"

#include "base/core/str.h"

char csv_separator(struct td_str text)
{
    static const char separators[] = {',', ';', '\t'};
    size_t most = 0, best = 0, counts[sizeof separators] = {0};
    for (size_t i = 0; i < text.len && text.data[i] != '\n'; i++)
        for (size_t k = 0; k < sizeof separators; k++)
            counts[k] += text.data[i] == separators[k];
    for (size_t k = 0; k < sizeof separators; k++)
        if (counts[k] > most) {
            most = counts[k];
            best = k;
        }
    return separators[best];
}

bool csv_next(struct td_str *rest, char separator, struct buf *out, bool *line_end)
{
    bool quoted = rest->len && rest->data[0] == '"';
    size_t at = quoted;
    buf_clear(out);
    *line_end = true;
    if (rest->len == 0)
        return false;
    for (; at < rest->len; at++) {
        char c = rest->data[at];
        if (quoted && c == '"' && at + 1 < rest->len && rest->data[at + 1] == '"') {
            at++;
        } else if (quoted && c == '"') {
            quoted = false;
            continue;
        } else if (!quoted && (c == separator || c == '\n' || c == '\r')) {
            break;
        }
        buf_append_char(out, c);
    }
    if (at + 1 < rest->len && rest->data[at] == '\r' && rest->data[at + 1] == '\n')
        at++;
    *line_end = at >= rest->len || rest->data[at] == '\n' || rest->data[at] == '\r';
    *rest = str_slice(*rest, at + 1, rest->len);
    return true;
}
