/* Reads a multipart/form-data body (RFC 7578, RFC 2046 5.1), fed in pieces that are cut anywhere.
 * Nothing of a part's content is kept here. Strict: lines end with CR LF, and each part has a name.
 * One owner; any thread. */
#ifndef API_MULTIPART_H
#define API_MULTIPART_H

#include "tandem/types.h"

#define MULTIPART_BOUNDARY_BYTES_MAX 70 /* RFC 2046, 5.1.1 */
#define MULTIPART_HEAD_BYTES_MAX 4096   /* the headers of a part */

/* The headers of a part. Texts are NUL-terminated and valid inside the call. */
struct multipart_part {
    const char *name;
    const char *filename; /* NULL = it is no file */
    const char *type;     /* "" = not said */
};

struct multipart_events {
    /* False stops the reading. part NULL: the last part has ended, and so has the body. */
    bool (*on_part)(void *ctx, const struct multipart_part *part);
    bool (*on_data)(void *ctx, struct td_str bytes); /* of that part */
    void *ctx;
};

struct multipart {
    struct multipart_events events;
    char delimiter[4 + MULTIPART_BOUNDARY_BYTES_MAX + 1]; /* CR LF "--" boundary */
    size_t delimiter_len;
    size_t matched; /* of the delimiter */
    char head[MULTIPART_HEAD_BYTES_MAX];
    size_t head_len;
    int state;
    const char *fault; /* why it stopped; NULL = nothing is wrong, or an event said so */
};

/* content_type: the header's value. False: it is no multipart/form-data with a boundary. */
bool multipart_init(struct multipart *multipart, const char *content_type,
                    const struct multipart_events *events);
/* False: what was read is malformed (multipart->fault), or an event stopped it. */
bool multipart_feed(struct multipart *multipart, struct td_str bytes);
/* Whether the body has its end. */
bool multipart_is_whole(const struct multipart *multipart);

#endif
