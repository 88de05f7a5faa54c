/* Fields of comma-separated values (RFC 4180), also with semicolons or tabs. No state. */
#ifndef APP_CSV_H
#define APP_CSV_H

#include "base/bytes/buf.h"

/* The one of , ; and tab that the first line has most of. */
char csv_separator(struct td_str text);
/* The next field, without its quotation marks, into `out` (cleared first). *line_end: it was the
 * last one of its line. False at the end of the text. What follows a closing quotation mark belongs
 * to the field, as spreadsheets read it. */
bool csv_next(struct td_str *rest, char separator, struct buf *out, bool *line_end);

#endif
