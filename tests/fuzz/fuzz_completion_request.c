/* A completion request's body: any bytes become a request with whole choices, or a 400 that says
 * why. */
#include "api/wire/completion_request.h"
#include "base/core/str.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static bool has_member(const struct td_request *td, const char *name)
{
    for (size_t i = 0; i < td->member_count; i++)
        if (strcmp(td->members[i].name, name) == 0)
            return true;
    return false;
}

static void look_at_choice(const struct completion_request *request, size_t index)
{
    struct completion_choice choice;
    if (!completion_choice_init(request, index, &choice))
        return;
    const struct td_request *td = &choice.td;
    if (td->message_count != 1 || td->messages[0].content.len == 0 || td->completion == NULL ||
        td->completion->ids || td->stop_count > TD_STOPS_MAX || td->top_logprobs > 5 ||
        json_kind_of(request_value(td, REQUEST_PROMPT)) != JSON_KIND_TEXT || has_member(td, "n") ||
        has_member(td, "tandem"))
        abort();
    volatile char sink = 0; /* every byte must be readable */
    for (size_t b = 0; b < td->completion->text.len; b++)
        sink = td->completion->text.data[b];
    (void)sink;
    completion_choice_deinit(&choice);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct arena *arena = arena_new(1 << 20);
    if (!arena)
        return 0;
    struct completion_request request;
    struct fault fault = {0};
    struct td_str body = {(const char *)data, size};
    if (completion_request_parse(body, STR(""), NULL, arena, &request, &fault)) {
        size_t count = request.prompt_count * request.n;
        if (count == 0 || count > COMPLETION_CHOICES_MAX)
            abort();
        look_at_choice(&request, 0);
        look_at_choice(&request, count - 1);
        completion_request_deinit(&request);
    } else if (fault.code != 400 || !*fault.message) {
        abort();
    }
    arena_free(arena);
    return 0;
}
