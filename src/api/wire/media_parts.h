/* Images, audio and files in the messages of a chat. They are passed on as they came; what is read
 * here is what kind they are, that they are well formed, and which of their texts nobody can read.
 * Pure functions. */
#ifndef API_MEDIA_PARTS_H
#define API_MEDIA_PARTS_H

#include "api/http/fault.h"
#include "base/bytes/arena.h"
#include "request/request.h"

/* Whether a content part of this type is one of them. */
bool media_part_is(const char *type);
/* Adds a part of such a type, which stands at `place`, to *out. Its payloads' list is in the arena.
 * False with the fault. */
bool media_part_read(const struct json *part, const char *place, struct arena *arena,
                     struct request_media *out, struct fault *fault);

/* For requests of other dialects, whose faults name their own members: */
/* "image/png". */
bool media_check_type(struct td_str type, const char *place, struct fault *fault);
/* Content in base64 with its padding, and nothing else. */
bool media_check_base64(struct td_str text, const char *place, struct fault *fault);
/* An address with http or https, or content as "data:image/png;base64,...". */
bool media_check_url(struct td_str url, const char *place, struct fault *fault);

#endif
