/* A hostile grammar and a hostile text. Input: 1 byte length of the text, the text, then GBNF. If
 * the matcher says that a text can be completed, some byte must bring the end nearer, down to 0. */
#include "base/core/str.h"
#include "engine/grammar/grammar_match.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Takes the shortest way out; each byte must bring the end nearer. */
static void finish(struct matcher *matcher, uint32_t set)
{
    for (int steps = 0; steps < 200 && !matcher_may_end(matcher, set); steps++) {
        uint32_t bytes = matcher_bytes_to_end(matcher, set), nearer = MATCH_DEAD;
        if (bytes >= GRAMMAR_COST_MAX)
            return;
        for (unsigned byte = 0; byte < 256 && nearer == MATCH_DEAD; byte++) {
            uint32_t next = matcher_step(matcher, set, (unsigned char)byte);
            if (next == MATCH_FULL)
                return;
            if (next != MATCH_DEAD && matcher_bytes_to_end(matcher, next) < bytes)
                nearer = next;
        }
        if (nearer == MATCH_DEAD)
            abort();
        set = nearer;
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct td_grammar *grammar = NULL;
    struct matcher *matcher = NULL;
    if (size < 1 || size < 1u + data[0])
        return 0;
    struct td_str text = {(const char *)data + 1, data[0]};
    struct td_str rules = {(const char *)data + 1 + text.len, size - 1 - text.len};
    if (td_grammar_parse(rules, &grammar, NULL) != TD_OK)
        return 0;
    if (matcher_new(grammar, &matcher, NULL) != TD_OK)
        abort();
    uint32_t set = matcher_start(matcher);
    for (size_t i = 0; i < text.len && set != MATCH_FULL; i++) {
        uint32_t next = matcher_step(matcher, set, (unsigned char)text.data[i]);
        if (next == MATCH_DEAD)
            break;
        set = i % 8 == 7 && next != MATCH_FULL ? matcher_compact(matcher, next) : next;
    }
    /* Near the depth limit the shortest way to the end may be closed, and a longer one remain. */
    if (set != MATCH_FULL && set != MATCH_DEAD && text.len <= 32)
        finish(matcher, set);
    matcher_free(matcher);
    td_grammar_free(grammar);
    return 0;
}
