/* The local engine: load a GGUF model, tokenize, render chats, generate. examples/c/ has two
 * programs.
 *
 * Options structs: start with {0}, which gives the defaults, and set what should differ. Arrays are
 * described as [rows, columns], row after row. Strings are UTF-8 unless a comment says bytes. A
 * function that can fail leaves its outputs NULL or untouched when it does. Ownership: **returns
 * new** names the function that frees it, **borrows** says until when; pointers that are given to a
 * function are the caller's and only read during the call unless a comment says otherwise.
 *
 * A td_model is immutable after open and may be shared by any number of threads. A td_session is
 * one sequence with its KV cache and belongs to one thread at a time. Errors are returned as
 * td_status with words in the optional td_error; nothing here prints, exits or aborts on data. */
#ifndef TANDEM_ENGINE_H
#define TANDEM_ENGINE_H

#include "tandem/types.h"

struct td_model;
struct td_session;

enum td_cpu { TD_CPU_AUTO, TD_CPU_REF, TD_CPU_AVX2, TD_CPU_AVX512, TD_CPU_NEON };

struct td_model_options {
    bool vocab_only; /* read metadata and vocabulary; tensors are neither needed nor checked */
    enum td_cpu cpu; /* kernel variant; a variant the CPU lacks is TD_UNSUPPORTED */
};

/* From a confidence to a probability of being right: its log-odds / temperature + bias. */
struct td_calibration {
    float temperature; /* 0 = the file brings none: the confidence as it is */
    float bias;
};

struct td_model_info {
    const char *architecture; /* as in the file: "llama", "qwen3", "gemma3" ... */
    const char *name;         /* general.name, or the file's base name */
    const char *quantization; /* type of most weight bytes: "Q4_0", ... ; "" when vocab_only */
    uint64_t file_bytes;
    uint64_t parameter_count;
    uint32_t context_tokens; /* trained context */
    uint32_t vocab_count;
    uint32_t layer_count;
    uint32_t embedding_size;
    int32_t bos_id, eos_id; /* -1 = none */
    int32_t not_mine_id;    /* tandem.not_mine_token_id, -1 = none */
    uint32_t exit_count;    /* early exits that the file brings */
    bool has_probe;         /* it brings a probe */
    struct td_calibration calibration;
    /* What the file recommends (general.sampling.*); td_sampling_default() where it is silent. */
    struct td_sampling sampling;
    const char *chat_family; /* recognised template family, or "" */
    /* What renders chats: "jinja", the template in the file (the family stands by for messages that
     * it refuses), or "family", where the file has none or one that the interpreter cannot run. */
    const char *chat_renderer;
    const char *fingerprint; /* 16 hex digits over metadata and tensor directory */
};

/* Opens and maps a GGUF file, whose weights stay in the file and are shared by all processes that
 * open it; options NULL = defaults. **returns new** (td_model_close). TD_NOT_FOUND or TD_IO (the
 * file), TD_CORRUPT (with file, field and reason), TD_UNSUPPORTED (architecture, tensor type,
 * tokenizer or kernel variant, with those that are), TD_NO_MEMORY. The file must not be changed
 * while it is open. */
TD_PUBLIC TD_MUST_CHECK enum td_status td_model_open(const char *path,
                                                     const struct td_model_options *options,
                                                     struct td_model **out, struct td_error *err);
/* After every session and adapter of it. Accepts NULL. */
TD_PUBLIC void td_model_close(struct td_model *model);

/* What the file says about itself. **borrows** until td_model_close; never NULL. */
TD_PUBLIC const struct td_model_info *td_model_get_info(const struct td_model *model);

/* Tokenizes `text` (any bytes). Writes at most `capacity` ids, and the needed number to *count in
 * any case: TD_LIMIT when capacity was too small (call again). add_bos: prepend BOS where the
 * vocabulary asks for it; parse_special: text that spells a control token becomes that token. Never
 * more ids than bytes, plus 2. TD_NO_MEMORY. */
TD_PUBLIC TD_MUST_CHECK enum td_status td_tokenize(const struct td_model *model, struct td_str text,
                                                   bool add_bos, bool parse_special, int32_t *ids,
                                                   size_t capacity, size_t *count,
                                                   struct td_error *err);

/* The bytes of one token as they stand in a text; special tokens give "" unless `special`.
 * **borrows** until td_model_close. An id outside the vocabulary gives len 0. */
TD_PUBLIC struct td_str td_token_piece(const struct td_model *model, int32_t id, bool special);

/* Renders messages with the model's chat template, ending with the mark that opens the assistant's
 * turn. A BOS that the template writes is left out where the tokenizer adds it. *out:
 * NUL-terminated, **returns new** (free); *out_len: its bytes. TD_INVALID (the template refuses the
 * messages), TD_LIMIT (64 MiB), TD_NO_MEMORY. */
TD_PUBLIC TD_MUST_CHECK enum td_status td_template_render(const struct td_model *model,
                                                          const struct td_message *messages,
                                                          size_t message_count, char **out,
                                                          size_t *out_len, struct td_error *err);

/* The same, tokenized: template marks become special tokens, text of the messages never does (a
 * user cannot spell a control token). *ids [*count]: **returns new** (free). Fails as
 * td_template_render, and with TD_INVALID when nothing is left. */
TD_PUBLIC TD_MUST_CHECK enum td_status td_chat_tokenize(const struct td_model *model,
                                                        const struct td_message *messages,
                                                        size_t message_count, int32_t **ids,
                                                        size_t *count, struct td_error *err);

struct td_session_options {
    uint32_t context_tokens; /* 0 = the model's, at most 4096 */
    uint32_t thread_count;   /* 0 = one a fast core, within affinity and quota */
    enum td_kv_type kv_type;
};

/* A sequence with its cache, working memory and threads; options NULL = defaults. Memory is sized
 * now and nothing is allocated later. **borrows** the model until td_session_free. **returns new**
 * (td_session_free). TD_INVALID (more context than the model was trained for, or a model opened
 * vocab_only), TD_NO_MEMORY (with the arithmetic, before anything is touched). */
TD_PUBLIC TD_MUST_CHECK enum td_status td_session_new(const struct td_model *model,
                                                      const struct td_session_options *options,
                                                      struct td_session **out,
                                                      struct td_error *err);
/* Accepts NULL. */
TD_PUBLIC void td_session_free(struct td_session *session);

/* Number of positions (tokens) in the cache; truncating forgets the positions from `count` on, and
 * does nothing when there are not so many. */
TD_PUBLIC uint32_t td_session_length(const struct td_session *session);
TD_PUBLIC void td_session_truncate(struct td_session *session, uint32_t count);

/* Runs `count` tokens after what is cached. logits: [logit_rows, vocab], the last `logit_rows`
 * positions, caller-owned (logit_rows 0 and NULL allowed). ids: [count], each below vocab_count.
 * After a failure the session is as before. TD_LIMIT when the context is full, TD_INVALID (an id,
 * or more rows than tokens). The result for a token does not depend on how a text is cut into calls
 * or on the number of threads. */
TD_PUBLIC TD_MUST_CHECK enum td_status td_session_forward(struct td_session *session,
                                                          const int32_t *ids, size_t count,
                                                          float *logits, size_t logit_rows,
                                                          struct td_error *err);

/* Makes room in a full context: forgets the `drop` positions after the first `keep` and computes
 * those after them anew at their new places, so that the session is exactly as if it had read the
 * shorter text. TD_INVALID when it does not hold so many; after another failure (TD_CANCELLED,
 * TD_NO_MEMORY) what was not computed yet is missing at the end. */
TD_PUBLIC TD_MUST_CHECK enum td_status td_session_shift(struct td_session *session, uint32_t keep,
                                                        uint32_t drop, struct td_error *err);

/* Writes what the session holds to a file that td_session_load brings back, in a process of the
 * same model, cache type and kind of context. The file appears whole or not at all; nobody else may
 * read it. TD_UNSUPPORTED with adapters. */
TD_PUBLIC TD_MUST_CHECK enum td_status td_session_save(const struct td_session *session,
                                                       const char *path, struct td_error *err);
/* Replaces what the session holds. After a failure (TD_CORRUPT, TD_INVALID: another model,
 * TD_LIMIT, TD_IO ...) it is as before. */
TD_PUBLIC TD_MUST_CHECK enum td_status td_session_load(struct td_session *session, const char *path,
                                                       struct td_error *err);
/* The same for `count` positions from `begin` on, in memory. Writes *bytes in any case, TD_LIMIT
 * when that is more than capacity (call again). */
TD_PUBLIC TD_MUST_CHECK enum td_status td_session_export(const struct td_session *session,
                                                         uint32_t begin, uint32_t count, void *out,
                                                         size_t capacity, size_t *bytes,
                                                         struct td_error *err);
/* Appends exported positions, which must begin where the session ends. */
TD_PUBLIC TD_MUST_CHECK enum td_status
td_session_import(struct td_session *session, const void *data, size_t bytes, struct td_error *err);
/* --- adapters --- */

/* A LoRA adapter of one model, from a GGUF file (general.type "adapter", adapter.type "lora").
 * Immutable and copied out of its file; any number of threads and sessions. It must not outlive its
 * model. */
struct td_adapter;

#define TD_ADAPTER_SCALE_MAX 1e4f

struct td_adapter_info {
    const char *name;      /* general.name, or the file's base name */
    uint32_t matrix_count; /* matrices of the model that it changes */
    uint32_t rank_max;
    float alpha;    /* 0: the file names none, and the scale is the whole factor */
    uint64_t bytes; /* of memory */
};

/* TD_INVALID: made for another model, with the tensor or the key that does not fit; TD_CORRUPT,
 * TD_UNSUPPORTED, TD_IO with file, field and reason. **returns new** (td_adapter_free). */
TD_PUBLIC TD_MUST_CHECK enum td_status td_adapter_load(const struct td_model *model,
                                                       const char *path, struct td_adapter **out,
                                                       struct td_error *err);
/* Sessions that use it keep it until they have others or are freed. Accepts NULL. */
TD_PUBLIC void td_adapter_free(struct td_adapter *adapter);
/* **borrows** until td_adapter_free. */
TD_PUBLIC const struct td_adapter_info *td_adapter_get_info(const struct td_adapter *adapter);

struct td_adapter_use {
    const struct td_adapter *adapter;
    float scale; /* W' = W + scale * alpha / rank * B A; 1 = as trained, 0 = not at all */
};

/* From now on the session runs with the sum of these; count 0 = with none. What it holds was
 * computed with those of before: it is forgotten (length 0) unless they are the same. Takes
 * microseconds. */
TD_PUBLIC TD_MUST_CHECK enum td_status td_session_set_adapters(struct td_session *session,
                                                               const struct td_adapter_use *uses,
                                                               size_t count, struct td_error *err);

/* As td_session_forward, but gives the residual stream after `layer` layers (0 = the embeddings,
 * the model's number of layers = what the last norm reads) of the last hidden_rows tokens:
 * [hidden_rows, embedding]. */
TD_PUBLIC TD_MUST_CHECK enum td_status
td_session_forward_hidden(struct td_session *session, const int32_t *ids, size_t count,
                          uint32_t layer, float *hidden, size_t hidden_rows, struct td_error *err);

/* The model's probe: as td_session_forward, but gives the probability that an answer to what the
 * session then holds will be right. TD_INVALID for a model without a probe (td_model_info). */
TD_PUBLIC TD_MUST_CHECK enum td_status td_session_forward_probe(struct td_session *session,
                                                                const int32_t *ids, size_t count,
                                                                float *probability,
                                                                struct td_error *err);

/* What is known about one generated token, from the one pass over its logits. */
struct td_token_stats {
    float logprob;  /* natural log of the chosen token's probability at temperature 1, unfiltered */
    float margin;   /* p(top1) - p(top2) at temperature 1 */
    float entropy;  /* nats, at temperature 1 */
    float not_mine; /* probability of the model's "not mine" token; 0 when it has none */
    /* At the first token of an answer: the probability that the answer will be right, as the
     * model's probe reads it off the prompt. 0 at other tokens and without a probe. */
    float probe;
};

struct td_top_logprob {
    int32_t id;
    float logprob;
};

struct td_token {
    int32_t id;
    struct td_str piece; /* bytes of this token; may end inside a UTF-8 character */
    struct td_token_stats stats;
    const struct td_top_logprob *top; /* request.top_logprobs best, descending */
    size_t top_count;
};

/* What a generation has to look like, compiled. Immutable; any number of threads and
 * generations. */
struct td_grammar;

/* GBNF text, with a rule named root. **returns new** (td_grammar_free). TD_INVALID with line and
 * column: syntax, names without a rule, left recursion, rules that cannot end; TD_LIMIT when it is
 * too large. */
TD_PUBLIC TD_MUST_CHECK enum td_status td_grammar_parse(struct td_str text, struct td_grammar **out,
                                                        struct td_error *err);
/* The JSON texts that a JSON Schema (itself a JSON text) accepts, or a part of them: members in the
 * order of the schema, and none that it does not name unless additionalProperties says so. "{}"
 * gives any value. **returns new** (td_grammar_free). TD_UNSUPPORTED names the keyword that cannot
 * be promised. */
TD_PUBLIC TD_MUST_CHECK enum td_status
td_grammar_from_schema(struct td_str schema, struct td_grammar **out, struct td_error *err);
TD_PUBLIC void td_grammar_free(struct td_grammar *grammar); /* accepts NULL */

/* Guessing tokens ahead, so that one pass over the weights can confirm several. The answer is the
 * one that comes without, token for token: a guess counts only where the sampler chooses it from
 * the model's own logits. */
enum td_speculation {
    TD_SPECULATION_NONE,
    TD_SPECULATION_NGRAM, /* what followed the same tokens before, in prompt and answer */
    TD_SPECULATION_DRAFT  /* what a smaller model says */
};

struct td_generate_options {
    struct td_sampling sampling;
    uint32_t tokens_max;
    /* NULL = free text. Ends the answer where nothing can follow; end tokens only where the grammar
     * may end. Where tokens_max suffices for some text of the grammar, the answer is one. Borrowed
     * until the end. */
    struct td_grammar *grammar;
    const struct td_str *stops; /* text before a stop is kept, the stop itself is not emitted */
    size_t stop_count;
    uint8_t top_logprobs;
    /* Above 0, up to 1: a token is taken from the first early exit of the model whose best token
     * has at least this probability, and the layers above it are not run. TD_INVALID for a model
     * without exits, and together with speculation. */
    float exit_threshold;
    bool ignore_eos;
    /* td_generate only, needs tokens_max: a full context does not end the answer. The first
     * context_keep tokens and the later half of the others stay (td_session_shift). */
    bool context_shift;
    uint32_t context_keep;
    enum td_speculation speculation;
    uint32_t draft_tokens; /* most guesses at a time, at most 16; 0 = 8 */
    /* Of the smaller model, which has to have the same vocabulary (else TD_INVALID with the
     * difference). Borrowed until the end, and used by nobody else until then; what it holds is
     * replaced. */
    struct td_session *draft;
};

struct td_generate_result {
    enum td_finish finish;
    uint32_t prompt_tokens;
    uint32_t cached_tokens; /* of the prompt: were there already, from an earlier one */
    uint32_t completion_tokens;
    double prefill_ms;
    double decode_ms;
    float probe;              /* as in td_token_stats */
    uint32_t early_tokens;    /* taken from early exits */
    uint64_t layers_saved;    /* that they did not run, but for keys and values */
    uint32_t drafted_tokens;  /* guessed ahead */
    uint32_t accepted_tokens; /* of those */
};

/* Called for each token with the text that became certain (complete UTF-8, never part of a stop
 * string; may be empty while held back; the last call, token NULL, may carry what was held back).
 * Returning false cancels. */
typedef bool td_token_fn(void *ctx, const struct td_token *token, struct td_str text);

/* Generates after what the session holds plus `ids` [count]; result may be filled in part when it
 * fails. Ends at an end token, a stop, tokens_max, a full context (TD_FINISH_LENGTH) or where the
 * grammar ends. TD_CANCELLED when the callback said so; TD_LIMIT when the prompt does not fit the
 * context; TD_INVALID (no tokens, an id, an option). */
TD_PUBLIC TD_MUST_CHECK enum td_status
td_generate(struct td_session *session, const int32_t *ids, size_t count,
            const struct td_generate_options *options, td_token_fn *on_token, void *ctx,
            struct td_generate_result *result, struct td_error *err);

/* The natural log of the probability of each of ids [count], given what the session holds, `prompt`
 * (at least a token) and the ids before. Afterwards the session holds the prompt and all ids but
 * the last. */
TD_PUBLIC TD_MUST_CHECK enum td_status td_score_text(struct td_session *session,
                                                     const int32_t *prompt, size_t prompt_count,
                                                     const int32_t *ids, size_t count,
                                                     float *logprobs, struct td_error *err);

#define TD_LABELS_MAX 4096
#define TD_LABEL_TOKENS_MAX 64

struct td_label {
    const int32_t *ids; /* as they would follow the prompt */
    size_t count;
};

struct td_label_options {
    bool normalise; /* the mean over a label's tokens instead of their sum */
    bool with_end;  /* and the answer ends after it: tells "no" from "none of these" */
};

/* Classification without generating: scores[i] is the log-probability of labels[i] right after what
 * the session holds and `prompt`. The prompt runs once, and then only what labels have before their
 * last tokens (with with_end: all of them), what they share once. Afterwards the session holds the
 * prompt. */
TD_PUBLIC TD_MUST_CHECK enum td_status td_score_labels(struct td_session *session,
                                                       const int32_t *prompt, size_t prompt_count,
                                                       const struct td_label *labels, size_t count,
                                                       const struct td_label_options *options,
                                                       float *scores, struct td_error *err);

/* Temperature 1, everything else off, seed from the system. */
TD_PUBLIC struct td_sampling td_sampling_default(void);

/* Embeddings: one vector of length 1 for a text, from encoders (bert, nomic-bert) and decoders
 * alike. */

enum td_pooling {
    TD_POOLING_MODEL, /* what the file says; else mean for encoders, last for decoders */
    TD_POOLING_MEAN,  /* of all tokens */
    TD_POOLING_CLS,   /* the first token */
    TD_POOLING_LAST   /* the last token */
};

/* Working memory for embedding with one model. One thread at a time. */
struct td_embedder;

struct td_embedder_options {
    uint32_t context_tokens; /* of the longest text; 0 = the model's, at most 2048 */
    uint32_t thread_count;   /* as in td_session_options */
    enum td_pooling pooling;
};

struct td_ids {
    const int32_t *data; /* [count] */
    size_t count;
};

/* **borrows** the model. **returns new** (td_embedder_free). TD_UNSUPPORTED for a reranker without
 * a pooling in the options. */
TD_PUBLIC TD_MUST_CHECK enum td_status td_embedder_new(const struct td_model *model,
                                                       const struct td_embedder_options *options,
                                                       struct td_embedder **out,
                                                       struct td_error *err);
TD_PUBLIC void td_embedder_free(struct td_embedder *embedder); /* accepts NULL */
TD_PUBLIC enum td_pooling td_embedder_pooling(const struct td_embedder *embedder);

/* out: [text_count, embedding_size], caller-owned. A vector does not depend on the texts beside it.
 * TD_LIMIT when a text is too long, TD_INVALID when it is empty. */
TD_PUBLIC TD_MUST_CHECK enum td_status td_embed(struct td_embedder *embedder,
                                                const struct td_ids *texts, size_t text_count,
                                                float *out, struct td_error *err);
/* One text, tokenized as the vocabulary asks (text never becomes a control token). out:
 * [embedding_size]; *token_count (may be NULL) is set also when the text is too long. */
TD_PUBLIC TD_MUST_CHECK enum td_status td_embed_text(struct td_embedder *embedder,
                                                     struct td_str text, float *out,
                                                     size_t *token_count, struct td_error *err);

#endif
