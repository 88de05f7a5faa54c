/* Writes JSON member by member, where a tree would be built only to be written once: the record of
 * a request has some fifty members, each of which would be two allocations. The result is what
 * json_write makes of the same tree. One owner. */
#ifndef BASE_JSON_WRITER_H
#define BASE_JSON_WRITER_H

#include "base/bytes/buf.h"
#include "base/json/json.h"

/* When memory or the limit ends, the buffer has failed; nothing else says so. */
struct json_writer {
    struct buf *out;
    bool more; /* a value stands before */
};

/* **borrows** out. */
void json_writer_begin(struct json_writer *writer, struct buf *out);

/* `name`: of the member; NULL for an element of a list and for the whole text. A name is the
 * program's or the configuration's, at most one value has it. */
void json_writer_open(struct json_writer *writer, const char *name, char bracket); /* '{' or '[' */
void json_writer_close(struct json_writer *writer, char bracket);
void json_writer_text(struct json_writer *writer, const char *name, const char *text); /* or null */
void json_writer_int(struct json_writer *writer, const char *name, int64_t value);
void json_writer_double(struct json_writer *writer, const char *name,
                        double value); /* NaN and infinities become null */
void json_writer_bool(struct json_writer *writer, const char *name, bool value);
/* **takes** the tree; NULL writes nothing. */
void json_writer_tree(struct json_writer *writer, const char *name, struct json *value);

#endif
