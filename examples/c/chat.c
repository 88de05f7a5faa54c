/* Answers one question as it comes, and says how sure the model was of each token:
 * cc chat.c $(pkg-config --cflags --libs tandem) -lm && ./a.out model.gguf "What can you do?" */
#include <tandem/engine.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct sums {
    double logprob, margin_min;
    unsigned tokens;
};

static bool on_token(void *ctx, const struct td_token *token, struct td_str text)
{
    struct sums *sums = ctx;
    fwrite(text.data, 1, text.len, stdout);
    if (token) { /* the last call has only text that was held back */
        sums->logprob += token->stats.logprob;
        sums->margin_min = fmin(sums->margin_min, token->stats.margin);
        sums->tokens++;
    }
    return fflush(stdout) == 0;
}

int main(int argc, char **argv)
{
    struct td_error err = {0};
    struct td_model *model = NULL;
    struct td_session *session = NULL;
    int32_t *ids = NULL;
    size_t count = 0;
    if (argc != 3) {
        fprintf(stderr, "usage: %s model.gguf QUESTION\n", argv[0]);
        return 2;
    }
    struct td_message question = {TD_ROLE_USER, {argv[2], strlen(argv[2])}};
    struct td_generate_options options = {.sampling = td_sampling_default(), .tokens_max = 64};
    struct td_generate_result result;
    struct sums sums = {.margin_min = 1};
    enum td_status status = td_model_open(argv[1], NULL, &model, &err);
    if (status == TD_OK)
        status = td_session_new(model, NULL, &session, &err);
    if (status == TD_OK) /* the model's own template; the question cannot spell a control token */
        status = td_chat_tokenize(model, &question, 1, &ids, &count, &err);
    if (status == TD_OK)
        status = td_generate(session, ids, count, &options, on_token, &sums, &result, &err);
    if (status == TD_OK)
        printf("\nconfidence %.2f, smallest margin %.2f, %u tokens\n",
               exp(sums.logprob / (sums.tokens ? sums.tokens : 1)), sums.margin_min, sums.tokens);
    else
        fprintf(stderr, "%s: %s\n", td_status_name(status), err.message);
    free(ids);
    td_session_free(session);
    td_model_close(model);
    return status == TD_OK ? 0 : 1;
}
