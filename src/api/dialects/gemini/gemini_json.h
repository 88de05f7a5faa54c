/* Members of a request of Gemini's API. Its servers read the JSON form of protocol buffers, so each
 * member has two names (`inlineData`, `inline_data`), and a number may be written as a string. Pure
 * functions. */
#ifndef API_GEMINI_JSON_H
#define API_GEMINI_JSON_H

#include "base/json/json.h"

/* The member of that name, which is in camel case, under either of its names; NULL when absent. */
const struct json *gemini_get(const struct json *object, const char *name);
/* Whether a member's name, as it came, is this one. */
bool gemini_is_name(const char *came, const char *name);
/* The integer that a number or a string stands for, else the value as it came. **returns new**;
 * NULL without memory. */
struct json *gemini_integer(const struct json *value);

#endif
