/* Downloading a model: what `tandem models pull`, `tandem run` and a server's operators share. One
 * thread; one at a time for a folder. */
#ifndef APP_PULL_H
#define APP_PULL_H

#include "app/config/config.h"
#include "app/setup/model/model_origin.h"
#include "app/setup/model/model_source.h"
#include "net/download/download.h"

#define PULL_RETRIES 8

struct json;

struct pull {
    /* What is wanted. */
    const char *config_path, *dir, *name, *ca_file;
    uint32_t streams, retries;
    bool json, force;
    bool quiet;                /* no word on standard output */
    const atomic_bool *cancel; /* NULL = Ctrl-C */
    /* **takes** what --json prints, and "checking" with its bytes; NULL = it is printed. */
    void (*on_event)(void *ctx, struct json *event);
    void *ctx;
    char digest[DOWNLOAD_SHA256_HEX + 1]; /* that was asked for; "" = none */

    /* What came of it. */
    struct config *config;
    struct model_source source;
    char path[4096 + MODEL_NAME_BYTES]; /* of the model */
    const char *endpoint;
    const char *token_origin;          /* whose HF_TOKEN is */
    char known_name[MODEL_NAME_BYTES]; /* as the catalogue calls it */
    char digest_from[40];              /* who says the digest, for messages */
    struct model_origin origin;
    struct download_result result;
    int part_fd; /* -1 = none */
    double begin_ms, hash_report_ms;
    bool bar_shown;
};

/* Reads the configuration. config_free(pull->config) also after a failure. */
TD_MUST_CHECK enum td_status pull_open(struct pull *pull, struct td_error *err);
/* `asked`: a name of the catalogue, hf:ORG/REPO[:QUANTISATION|:FILE.gguf], an address or a file. A
 * model that is there already is left as it is. *printed: standard output took the words. */
TD_MUST_CHECK enum td_status pull_run(struct pull *pull, const char *asked, bool *printed,
                                      struct td_error *err);

#endif
