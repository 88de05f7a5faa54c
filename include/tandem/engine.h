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

/* Turns a confidence into the probability that the answer is right: the log-odds of the confidence
 * are divided by the temperature, then the bias is added. */
struct td_calibration {
    float temperature; /* 0 = the file brings no calibration: the confidence stays as it is */
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
    uint32_t exit_count;    /* early exits in the file */
    bool has_probe;         /* the file has a probe */
    /* Of answers in general; of calls of tools; of answers of one token, such as labels. A kind
     * that the file does not name has the general one. */
    struct td_calibration calibration, call_calibration, label_calibration;
    /* What the file recommends (general.sampling.*); td_sampling_default() where it is silent. */
    struct td_sampling sampling;
    const char *chat_family; /* recognised template family, or "" */
    /* What renders chats. "jinja": the template in the file; messages that it refuses are rendered
     * by the family. "family": the file has no template, or one that the interpreter cannot run. */
    const char *chat_renderer;
    const char *fingerprint; /* 16 hex digits over metadata and tensor directory */
};

/* Opens and maps a GGUF file. The weights stay in the file, and all processes that open it share
 * them. options NULL = defaults. **returns new** (td_model_close). TD_NOT_FOUND or TD_IO (the
 * file), TD_CORRUPT (with file, field and reason), TD_UNSUPPORTED (architecture, tensor type,
 * tokenizer or kernel variant; the message lists the supported ones), TD_NO_MEMORY. The file must
 * not change while it is open. */
TD_PUBLIC TD_MUST_CHECK enum td_status td_model_open(const char *path,
                                                     const struct td_model_options *options,
                                                     struct td_model **out, struct td_error *err);
/* Call it after every session and adapter of the model has been freed. Accepts NULL. */
TD_PUBLIC void td_model_close(struct td_model *model);

/* What the file says about itself. **borrows** until td_model_close; never NULL. */
TD_PUBLIC const struct td_model_info *td_model_get_info(const struct td_model *model);

/* Tokenizes `text` (any bytes). Writes at most `capacity` ids, and always the needed number to
 * *count. TD_LIMIT when capacity was too small (call again). add_bos: prepend BOS where the
 * vocabulary asks for it. parse_special: text that spells a control token becomes that token. There
 * are never more ids than bytes plus 2. TD_NO_MEMORY. */
TD_PUBLIC TD_MUST_CHECK enum td_status td_tokenize(const struct td_model *model, struct td_str text,
                                                   bool add_bos, bool parse_special, int32_t *ids,
                                                   size_t capacity, size_t *count,
                                                   struct td_error *err);

/* The bytes that one token writes into a text. Special tokens give "" unless `special` is set.
 * **borrows** until td_model_close. An id outside the vocabulary gives len 0. */
TD_PUBLIC struct td_str td_token_piece(const struct td_model *model, int32_t id, bool special);

/* Renders messages with the model's chat template. The text ends with the mark that opens the
 * assistant's turn. If the tokenizer adds BOS, a BOS written by the template is left out. *out:
 * NUL-terminated, **returns new** (free); *out_len: its length in bytes. TD_INVALID (the template
 * refuses the messages), TD_LIMIT (above 64 MiB), TD_NO_MEMORY. */
TD_PUBLIC TD_MUST_CHECK enum td_status td_template_render(const struct td_model *model,
                                                          const struct td_message *messages,
                                                          size_t message_count, char **out,
                                                          size_t *out_len, struct td_error *err);

/* Renders as td_template_render does, and tokenizes the text. Marks of the template become special
 * tokens. Text of the messages never does, so a user cannot spell a control token. *ids [*count]:
 * **returns new** (free). Fails as td_template_render does, and with TD_INVALID when there are no
 * tokens. */
TD_PUBLIC TD_MUST_CHECK enum td_status td_chat_tokenize(const struct td_model *model,
                                                        const struct td_message *messages,
                                                        size_t message_count, int32_t **ids,
                                                        size_t *count, struct td_error *err);

struct td_session_options {
    uint32_t context_tokens; /* 0 = the model's, at most 4096 */
    uint32_t thread_count;   /* 0 = one for each fast core, within affinity and quota */
    enum td_kv_type kv_type;
};

/* Makes a sequence with its cache, working memory and threads; options NULL = defaults. All memory
 * is reserved here; later calls allocate nothing. **borrows** the model until td_session_free.
 * **returns new** (td_session_free). TD_INVALID (a context larger than the model was trained for,
 * or a model opened with vocab_only), TD_NO_MEMORY (the message has the arithmetic; no memory has
 * been touched). */
TD_PUBLIC TD_MUST_CHECK enum td_status td_session_new(const struct td_model *model,
                                                      const struct td_session_options *options,
                                                      struct td_session **out,
                                                      struct td_error *err);
/* Accepts NULL. */
TD_PUBLIC void td_session_free(struct td_session *session);

/* Number of positions (tokens) in the cache. Truncating forgets the positions from `count` on. It
 * does nothing when the cache holds no more than `count`. A model with Mamba-2 layers reads up to
 * some hundred tokens before `count` again when the session goes on. */
TD_PUBLIC uint32_t td_session_length(const struct td_session *session);
TD_PUBLIC void td_session_truncate(struct td_session *session, uint32_t count);

/* Runs `count` tokens after the cached ones. ids: [count], each below vocab_count. logits:
 * [logit_rows, vocab], caller-owned, of the last `logit_rows` positions (0 rows and NULL are
 * allowed). After a failure the session is as before. TD_LIMIT (the context is full), TD_INVALID
 * (a bad id, or more rows than tokens). The result for a token depends neither on how a text is cut
 * into calls nor on the number of threads. */
TD_PUBLIC TD_MUST_CHECK enum td_status td_session_forward(struct td_session *session,
                                                          const int32_t *ids, size_t count,
                                                          float *logits, size_t logit_rows,
                                                          struct td_error *err);

/* Makes room in a full context. It forgets the `drop` positions after the first `keep`, and
 * computes the positions after those again at their new places. The session is then exactly as if
 * it had read the shorter text. TD_INVALID when it holds fewer than keep + drop positions. After
 * another failure (TD_CANCELLED, TD_NO_MEMORY) the positions that were not computed again are
 * missing at the end. */
TD_PUBLIC TD_MUST_CHECK enum td_status td_session_shift(struct td_session *session, uint32_t keep,
                                                        uint32_t drop, struct td_error *err);

/* Writes the cached positions to a file. td_session_load reads it in a session of the same model,
 * cache type and kind of context (normal or long rope). The file appears whole or not at all, and
 * only its owner may read it. TD_UNSUPPORTED with adapters. */
TD_PUBLIC TD_MUST_CHECK enum td_status td_session_save(const struct td_session *session,
                                                       const char *path, struct td_error *err);
/* Replaces the cached positions. After a failure (TD_CORRUPT, TD_INVALID: another model, TD_LIMIT,
 * TD_IO ...) the session is as before. */
TD_PUBLIC TD_MUST_CHECK enum td_status td_session_load(struct td_session *session, const char *path,
                                                       struct td_error *err);
/* Writes `count` positions from `begin` on to memory, in the form of td_session_save. Always sets
 * *bytes to the needed size. TD_LIMIT when that is more than capacity (call again). */
TD_PUBLIC TD_MUST_CHECK enum td_status td_session_export(const struct td_session *session,
                                                         uint32_t begin, uint32_t count, void *out,
                                                         size_t capacity, size_t *bytes,
                                                         struct td_error *err);
/* Appends exported positions, which must begin where the session ends. */
TD_PUBLIC TD_MUST_CHECK enum td_status
td_session_import(struct td_session *session, const void *data, size_t bytes, struct td_error *err);

/* --- adapters --- */

/* A LoRA adapter of one model, read from a GGUF file (general.type "adapter", adapter.type "lora").
 * It is copied out of its file and immutable. Any number of threads and sessions may share it. It
 * must not outlive its model. */
struct td_adapter;

#define TD_ADAPTER_SCALE_MAX 1e4f

struct td_adapter_info {
    const char *name;      /* general.name, or the file's base name */
    uint32_t matrix_count; /* matrices of the model that it changes */
    uint32_t rank_max;
    float alpha;    /* 0: the file has none, and the scale is the whole factor */
    uint64_t bytes; /* memory that it takes */
};

/* TD_INVALID: the adapter was made for another model; the message names the tensor or key that does
 * not fit. TD_CORRUPT, TD_UNSUPPORTED, TD_IO: with file, field and reason. **returns new**
 * (td_adapter_free). */
TD_PUBLIC TD_MUST_CHECK enum td_status td_adapter_load(const struct td_model *model,
                                                       const char *path, struct td_adapter **out,
                                                       struct td_error *err);
/* A session that uses the adapter keeps it alive until it is given others or is freed. Accepts
 * NULL. */
TD_PUBLIC void td_adapter_free(struct td_adapter *adapter);
/* **borrows** until td_adapter_free. */
TD_PUBLIC const struct td_adapter_info *td_adapter_get_info(const struct td_adapter *adapter);

struct td_adapter_use {
    const struct td_adapter *adapter;
    float scale; /* W' = W + scale * alpha / rank * B A; 1 = as trained, 0 = not at all */
};

/* The session runs with the sum of these adapters from now on; count 0 = with none. If they differ
 * from the previous ones, the cached positions are forgotten (length 0), because they were computed
 * with those. Takes microseconds. */
TD_PUBLIC TD_MUST_CHECK enum td_status td_session_set_adapters(struct td_session *session,
                                                               const struct td_adapter_use *uses,
                                                               size_t count, struct td_error *err);

/* As td_session_forward, but gives the residual stream after `layer` layers, of the last
 * hidden_rows tokens: [hidden_rows, embedding]. Layer 0 = the embeddings; the model's number of
 * layers = the input of the last norm. */
TD_PUBLIC TD_MUST_CHECK enum td_status
td_session_forward_hidden(struct td_session *session, const int32_t *ids, size_t count,
                          uint32_t layer, float *hidden, size_t hidden_rows, struct td_error *err);

/* As td_session_forward, but gives what the model's probe says: the probability that an answer to
 * the text so far will be right. TD_INVALID for a model without a probe (td_model_info). */
TD_PUBLIC TD_MUST_CHECK enum td_status td_session_forward_probe(struct td_session *session,
                                                                const int32_t *ids, size_t count,
                                                                float *probability,
                                                                struct td_error *err);

/* What is known about one generated token. */
struct td_token_stats {
    float logprob;  /* natural log of the chosen token's probability at temperature 1, unfiltered */
    float margin;   /* p(top1) - p(top2) at temperature 1 */
    float entropy;  /* nats, at temperature 1 */
    float not_mine; /* probability of the model's "not mine" token; 0 when it has none */
    /* At the first token of an answer: the probability that the answer will be right, which the
     * model's probe reads from the prompt. 0 at other tokens and without a probe. */
    float probe;
    uint32_t forced; /* 1: the grammar allowed no other text, so its probability says nothing */
};

struct td_top_logprob {
    int32_t id;
    float logprob;
};

struct td_token {
    int32_t id;
    struct td_str piece; /* bytes of this token; may end inside a UTF-8 character */
    struct td_token_stats stats;
    const struct td_top_logprob *top; /* [top_count] the best tokens, descending */
    size_t top_count;
};

/* A compiled grammar: which texts a generation may write. Immutable; any number of threads and
 * generations may share it. */
struct td_grammar;

/* Compiles GBNF text, whose start is the rule named root. **returns new** (td_grammar_free).
 * TD_INVALID with line and column: bad syntax, a name without a rule, left recursion, a rule that
 * cannot end. TD_LIMIT when it is too large. */
TD_PUBLIC TD_MUST_CHECK enum td_status td_grammar_parse(struct td_str text, struct td_grammar **out,
                                                        struct td_error *err);
/* Compiles a JSON Schema (itself a JSON text). The grammar allows the JSON texts that the schema
 * accepts, or a part of them: members come in the order of the schema, and members that it does not
 * name come only if additionalProperties says so. "{}" allows any value. **returns new**
 * (td_grammar_free). TD_UNSUPPORTED names the keyword that a grammar cannot enforce. */
TD_PUBLIC TD_MUST_CHECK enum td_status
td_grammar_from_schema(struct td_str schema, struct td_grammar **out, struct td_error *err);
TD_PUBLIC void td_grammar_free(struct td_grammar *grammar); /* accepts NULL */

/* Guessing tokens ahead, so that one pass over the weights can confirm several. The answer is the
 * same as without guessing, token for token: a guess is kept only if the sampler chooses that token
 * from the model's own logits. */
enum td_speculation {
    TD_SPECULATION_NONE,
    TD_SPECULATION_NGRAM, /* what followed the same tokens before, in prompt and answer */
    TD_SPECULATION_DRAFT  /* what a smaller model says */
};

struct td_generate_options {
    struct td_sampling sampling;
    uint32_t tokens_max;
    /* NULL = free text. The answer ends where nothing can follow, and end tokens come only where
     * the grammar may end. If tokens_max is enough for some text of the grammar, the answer is a
     * complete text. Borrowed until the end. */
    struct td_grammar *grammar;
    const struct td_str *stops; /* the answer ends before the first of these texts */
    size_t stop_count;
    uint8_t top_logprobs;
    /* 0 = off, at most 1. A token is taken from the first early exit whose best token has at least
     * this probability, and the layers above that exit do not run. TD_INVALID for a model without
     * exits, and together with speculation. */
    float exit_threshold;
    bool ignore_eos;
    /* td_generate only; requires tokens_max. A full context does not end the answer: the first
     * context_keep tokens and the later half of the others stay (td_session_shift). */
    bool context_shift;
    uint32_t context_keep;
    enum td_speculation speculation;
    uint32_t draft_tokens; /* most guesses at a time, at most 16; 0 = 8 */
    /* A session of the smaller model, which must have the same vocabulary (else TD_INVALID with the
     * difference). Borrowed until the end; nobody else may use it until then. Its cached positions
     * are replaced. */
    struct td_session *draft;
};

struct td_generate_result {
    enum td_finish finish;
    uint32_t prompt_tokens;
    uint32_t cached_tokens; /* of the prompt: already in the cache from an earlier prompt */
    uint32_t completion_tokens;
    double prefill_ms;
    double decode_ms;
    float probe;              /* as in td_token_stats */
    uint32_t early_tokens;    /* taken from early exits */
    uint64_t layers_saved;    /* that these tokens skipped, except for keys and values */
    uint32_t drafted_tokens;  /* guessed ahead */
    uint32_t accepted_tokens; /* guesses that were right */
    uint32_t stop_number;     /* of the stop text that ended the answer, from 1; 0 = none did */
};

/* Called for each token with the text that has become certain: complete UTF-8, never part of a stop
 * string, and empty while text is held back. The last call may have token NULL and carry the text
 * that was held back. Returning false cancels. */
typedef bool td_token_fn(void *ctx, const struct td_token *token, struct td_str text);

/* Generates after the cached positions and `ids` [count]. It ends at an end token, a stop,
 * tokens_max, a full context (TD_FINISH_LENGTH) or where the grammar ends. on_token and result may
 * be NULL. After a failure *result may be filled in part. TD_CANCELLED (the callback returned
 * false), TD_LIMIT (the prompt does not fit the context), TD_INVALID (no tokens, a bad id or
 * option). */
TD_PUBLIC TD_MUST_CHECK enum td_status
td_generate(struct td_session *session, const int32_t *ids, size_t count,
            const struct td_generate_options *options, td_token_fn *on_token, void *ctx,
            struct td_generate_result *result, struct td_error *err);

/* Gives the natural log of the probability of each of ids [count] after the cached positions,
 * `prompt` (at least one token) and the ids before it. Afterwards the session holds the prompt and
 * all ids except the last. */
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
    bool with_end;  /* include that the answer ends there: tells "no" from "none of these" */
};

/* Classifies without generating: scores[i] is the log-probability of labels[i] right after the
 * cached positions and `prompt`. The prompt runs once. Of each label all tokens except the last run
 * (with with_end the last one too), and beginnings that labels share run once. Afterwards the
 * session holds the prompt. */
TD_PUBLIC TD_MUST_CHECK enum td_status td_score_labels(struct td_session *session,
                                                       const int32_t *prompt, size_t prompt_count,
                                                       const struct td_label *labels, size_t count,
                                                       const struct td_label_options *options,
                                                       float *scores, struct td_error *err);

/* --- classification: which of given labels a text has --- */

/* Labels, and the words in which a model is asked for one of them. Immutable; any number of threads
 * and sessions may share it. It must not outlive its model. */
struct td_classifier;

struct td_classifier_options {
    const char *set;             /* labels that the model's file brings; NULL = `labels` */
    const struct td_str *labels; /* [label_count] UTF-8, copied */
    size_t label_count;
    struct td_str instruction; /* what the labels mean, for the system's message; may be empty */
};

/* **returns new** (td_classifier_free). TD_NOT_FOUND: the model has no such set; the message names
 * those that it has. TD_INVALID: no labels or more than TD_LABELS_MAX, an empty label, one of more
 * than TD_LABEL_TOKENS_MAX tokens, two that are the same tokens. TD_CORRUPT: the file's labels
 * are. */
TD_PUBLIC TD_MUST_CHECK enum td_status
td_classifier_new(const struct td_model *model, const struct td_classifier_options *options,
                  struct td_classifier **out, struct td_error *err);
TD_PUBLIC void td_classifier_free(struct td_classifier *classifier); /* accepts NULL */
TD_PUBLIC size_t td_classifier_count(const struct td_classifier *classifier);
/* **borrows** until td_classifier_free. */
TD_PUBLIC struct td_str td_classifier_label(const struct td_classifier *classifier, size_t index);

/* The names of the sets of labels in the model's file; len 0 = there are no more. **borrows** until
 * td_model_close. */
TD_PUBLIC struct td_str td_label_set(const struct td_model *model, size_t index);

struct td_classification {
    float not_mine; /* probability that the model says "not mine"; -1 = it has no such token */
    float mass;     /* probability of all labels together before they were normalised */
    size_t token_count;
};

/* Asks for the label of one text, by the model's chat template. Nothing is generated: the prompt
 * and the beginnings of longer labels run (td_score_labels), and probabilities [labels] get
 *
 *   p(label) = exp(s(label)) / sum over all labels l of exp(s(l))
 *
 * where s is the log-probability that the answer begins with the label, and for labels that another
 * label continues, that it ends there. So no answer counts for two labels. The sum of a label's
 * tokens is not divided by their number: it is the probability, and a mean is not. The cached
 * positions are replaced, but for a beginning that is the same. TD_LIMIT (the text is too long). */
TD_PUBLIC TD_MUST_CHECK enum td_status
td_classify(struct td_session *session, const struct td_classifier *classifier, struct td_str text,
            float *probabilities, struct td_classification *out, struct td_error *err);

/* Temperature 1, everything else off, seed from the system. */
TD_PUBLIC struct td_sampling td_sampling_default(void);

/* --- embeddings: one vector of length 1 for each text --- */

/* Encoders (bert, nomic-bert) and decoders both give them. */

enum td_pooling {
    TD_POOLING_MODEL, /* as the file says; without that: mean for encoders, last for decoders */
    TD_POOLING_MEAN,  /* the mean of all tokens */
    TD_POOLING_CLS,   /* the first token */
    TD_POOLING_LAST   /* the last token */
};

/* Working memory for embedding with one model. One thread at a time. */
struct td_embedder;

struct td_embedder_options {
    uint32_t context_tokens; /* the longest text; 0 = the model's, at most 2048 */
    uint32_t thread_count;   /* as in td_session_options */
    enum td_pooling pooling;
};

struct td_ids {
    const int32_t *data; /* [count] */
    size_t count;
};

/* **borrows** the model. **returns new** (td_embedder_free). TD_UNSUPPORTED for a reranker, unless
 * the options name a pooling. */
TD_PUBLIC TD_MUST_CHECK enum td_status td_embedder_new(const struct td_model *model,
                                                       const struct td_embedder_options *options,
                                                       struct td_embedder **out,
                                                       struct td_error *err);
TD_PUBLIC void td_embedder_free(struct td_embedder *embedder); /* accepts NULL */
TD_PUBLIC enum td_pooling td_embedder_pooling(const struct td_embedder *embedder);

/* out: [text_count, embedding_size], caller-owned. A text's vector does not depend on the other
 * texts. TD_LIMIT when a text is too long, TD_INVALID when it is empty. */
TD_PUBLIC TD_MUST_CHECK enum td_status td_embed(struct td_embedder *embedder,
                                                const struct td_ids *texts, size_t text_count,
                                                float *out, struct td_error *err);
/* Tokenizes and embeds one text, which never becomes a control token. out: [embedding_size].
 * *token_count (may be NULL) is also set when the text is too long. */
TD_PUBLIC TD_MUST_CHECK enum td_status td_embed_text(struct td_embedder *embedder,
                                                     struct td_str text, float *out,
                                                     size_t *token_count, struct td_error *err);

#endif
