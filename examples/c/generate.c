/* Continues a text: cc generate.c $(pkg-config --cflags --libs tandem) && ./a.out model.gguf "Once
 * upon a time" */
#include <tandem/engine.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Called for each token; text is complete UTF-8 and may be empty while a character or a stop is
 * incomplete. */
static bool print(void *ctx, const struct td_token *token, struct td_str text)
{
    (void)ctx, (void)token;
    fwrite(text.data, 1, text.len, stdout);
    return fflush(stdout) == 0; /* false would end the generation */
}

int main(int argc, char **argv)
{
    struct td_error err = {0};
    struct td_model *model = NULL;
    struct td_session *session = NULL;
    struct td_generate_result result;
    if (argc != 3) {
        fprintf(stderr, "usage: %s model.gguf TEXT\n", argv[0]);
        return 2;
    }
    enum td_status status = td_model_open(argv[1], NULL, &model, &err);
    if (status == TD_OK)
        status = td_session_new(model, NULL, &session, &err);

    /* A text never has more tokens than bytes, plus a BOS and a leading space. */
    struct td_str text = {argv[2], strlen(argv[2])};
    size_t count = 0, capacity = text.len + 2;
    int32_t *ids = malloc(capacity * sizeof *ids);
    if (status == TD_OK && ids)
        status = td_tokenize(model, text, true, false, ids, capacity, &count, &err);

    if (status == TD_OK && ids) {
        struct td_generate_options options = {.sampling = td_sampling_default(), .tokens_max = 64};
        options.sampling.temperature = 0; /* greedy: the same answer every time */
        status = td_generate(session, ids, count, &options, print, NULL, &result, &err);
    }
    if (status == TD_OK)
        printf("\n%u tokens after %u in %.0f ms\n", result.completion_tokens, result.prompt_tokens,
               result.prefill_ms + result.decode_ms);
    else
        fprintf(stderr, "%s: %s\n", td_status_name(status), err.message);
    free(ids);
    td_session_free(session);
    td_model_close(model);
    return status == TD_OK ? 0 : 1;
}
