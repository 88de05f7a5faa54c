/* Where a request needs a grammar of calls, and at which of its starts a model begins. */
#include "base/core/assertion.h"
#include "engine/grammar/grammar.h"
#include "tier/call_grammar.h"

bool call_grammar_is_due(const struct td_request *request)
{
    /* A grammar of the client's own holds the whole answer. */
    return request->tool_count > 0 && request->tool_choice != TOOL_CHOICE_NONE &&
           !request->completion && request->format != TD_FORMAT_GRAMMAR;
}

struct td_grammar *call_grammar_begin(struct td_grammar *grammar, enum tool_format format,
                                      const struct token_marks *marks)
{
    ASSERT(grammar != NULL && format != TOOL_FORMAT_NONE);
    bool opens = marks->open_id >= 0, both = opens && marks->close_id >= 0;
    enum call_root root = format == TOOL_FORMAT_HERMES && both     ? CALL_ROOT_HERMES_TOKENS
                          : format == TOOL_FORMAT_HERMES           ? CALL_ROOT_HERMES
                          : format == TOOL_FORMAT_MISTRAL && opens ? CALL_ROOT_MISTRAL_TOKENS
                          : format == TOOL_FORMAT_MISTRAL          ? CALL_ROOT_MISTRAL
                                                                   : CALL_ROOT_LLAMA;
    return grammar_at_root(grammar, root);
}
