/* The members of a request from a JSON body, for tests below api/, which makes them in the
 * product.
 *
 *     struct wire_members wire;
 *     wire_members_init(&wire, "{\"messages\":[...]}", &request);   sets request.members
 *     wire_members_deinit(&wire);
 */
#ifndef WIRE_MEMBERS_H
#define WIRE_MEMBERS_H

#include "base/core/str.h"
#include "request/request.h"
#include "test.h"

#define WIRE_MEMBERS_MAX 16

struct wire_members {
    struct json *body;
    struct request_member list[WIRE_MEMBERS_MAX];
};

static inline enum request_kind wire_member_kind(const char *name)
{
    return strcmp(name, "messages") == 0 ? REQUEST_MESSAGES
           : strcmp(name, "prompt") == 0 ? REQUEST_PROMPT
           : strcmp(name, "tools") == 0  ? REQUEST_TOOLS
                                         : REQUEST_OTHER;
}

static inline void wire_members_init(struct wire_members *wire, const char *body,
                                     struct td_request *request)
{
    void *iterator = NULL;
    const char *name;
    const struct json *value;
    REQUIRE(json_parse(str_from(body), &wire->body, NULL) == TD_OK);
    request->members = wire->list;
    request->member_count = 0;
    while (json_next(wire->body, &iterator, &name, &value)) {
        REQUIRE(request->member_count < WIRE_MEMBERS_MAX);
        wire->list[request->member_count++] =
            (struct request_member){name, wire_member_kind(name), value};
    }
}

static inline void wire_members_deinit(struct wire_members *wire)
{
    json_free(wire->body);
}

#endif
