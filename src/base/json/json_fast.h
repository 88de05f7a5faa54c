/* A reader for JSON as programs write it. It takes less than all that is valid, and what it takes
 * becomes the same tree that the library would make; of everything else it says nothing, and the
 * library reads it anew and finds the words for what is wrong.
 *
 * Reading JSON is a library's work here, but jansson asks for each character through two calls, a
 * third of what a request of 150 kB cost; yyjson is in no Debian 12, and simdjson would bring a
 * C++ runtime. The fuzz target of JSON compares both readers on each input. Internal to base/. Any
 * thread. */
#ifndef BASE_JSON_FAST_H
#define BASE_JSON_FAST_H

#include "tandem/types.h"

struct json;

/* NULL: the library has to read it, for any reason. depth_max: of lists and objects in each other.
 * reject_duplicates: else the last value of a name counts. **returns new** (json_free). */
struct json *json_fast_read(struct td_str text, int depth_max, bool reject_duplicates);

#endif
