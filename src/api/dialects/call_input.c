/* A call's arguments as an object. */
#include "api/dialects/call_input.h"

#include "base/core/str.h"

static bool bad_arguments(struct fault *fault, struct td_str name, const char *why)
{
    fault_set(fault, 502, "server_error", "bad_upstream_answer",
              "the model's call of '" STR_FMT "' has arguments that are no JSON object: %s",
              STR_ARG(str_slice(name, 0, 80)), why);
    return false;
}

bool call_input_write(const struct tool_call_text *call, struct buf *out, struct fault *fault)
{
    enum json_kind kind;
    struct td_error err = {0};
    if (str_trim(call->arguments).len == 0) { /* of a tool without parameters */
        buf_append_str(out, STR("{}"));
        return true;
    }
    if (json_check(call->arguments, &kind, &err) != TD_OK)
        return bad_arguments(fault, call->name, err.message);
    if (kind != JSON_KIND_OBJECT)
        return bad_arguments(fault, call->name, json_kind_name(kind));
    buf_append_str(out, call->arguments);
    return true;
}
