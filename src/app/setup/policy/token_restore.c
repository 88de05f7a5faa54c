#include "app/setup/policy/token_restore.h"

#include "exchange/limits/cost.h"
#include "ledger/record/ledger.h"

static void add(void *ctx, const struct ledger_tokens *tokens)
{
    const struct token_sums sums = {
        .count = tokens->count,
        .prompt_estimate = tokens->prompt_estimate,
        .prompt_tokens = tokens->prompt_tokens,
        .cached_tokens = tokens->cached_tokens,
        .answer_estimate = cost_tokens_of((uint64_t)tokens->answer_bytes),
        .completion_tokens = tokens->completion_tokens,
    };
    token_counts_add(ctx, tokens->tier, tokens->model, &sums);
}

enum td_status token_counts_restore(const struct config *config, struct token_counts *counts,
                                    struct td_error *err)
{
    struct ledger_reader *reader = NULL;
    enum td_status status = ledger_reader_open(config->ledger.path, &reader, err);
    if (status == TD_OK)
        status = ledger_reader_tokens(reader, add, counts, err);
    ledger_reader_close(reader);
    return status;
}
