/* Spellings of a request's members that peers accept, made into the one that is read here and that
 * servers elsewhere understand. Members of a wrong type are left for their readers to refuse. No
 * state; any thread. */
#ifndef API_BODY_FORMS_H
#define API_BODY_FORMS_H

#include "api/http/fault.h"
#include "base/json/json.h"

/* Of every dialect: numbers, stops, biases. Without memory a member may be missing; json's
 * allocations are counted (base/core/shortage.h), and the caller refuses the request. */
void body_forms_settle(struct json *object);
/* Of a chat: llama.cpp's word for no limit. */
void body_forms_drop_no_limits(struct json *object);
/* Whether members of an object have the kinds that they may have. `place` stands before their names
 * ("reasoning."). False with *fault. */
struct body_kind {
    const char *name; /* NULL ends a table */
    unsigned kinds;   /* of BODY_KIND */
    const char *what; /* of these kinds, after "must be" */
};
#define BODY_KIND(name) (1u << JSON_KIND_##name)
bool body_forms_check_kinds(const struct json *object, const char *place,
                            const struct body_kind *rows, struct fault *fault);
/* A chat's members that are handed on have the types that OpenAI's API says. */
bool body_forms_check(const struct json *object, struct fault *fault);
/* tool_choice of the type allowed_tools: only these tools are offered, so that each tier can do it.
 * False with *fault. */
bool body_forms_narrow_tools(struct json *object, struct fault *fault);

#endif
