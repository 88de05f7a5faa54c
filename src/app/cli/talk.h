/* One question and its answer, for `tandem chat`: by an exchange in this process, or by a running
 * server. Both give text as it comes, then the `tandem` object of the wire format. */
#ifndef APP_TALK_H
#define APP_TALK_H

#include "base/bytes/buf.h"
#include "base/text/names.h"

struct json;
struct loop;
struct runtime;

struct talk_request {
    const struct td_message *messages;
    size_t message_count;
    const char *model; /* route, tier or model; NULL = auto */
    enum td_mode mode;
    enum td_data_class data_class;
    uint32_t tokens_max;
    double temperature;
    bool keep_nothing; /* in this process: only numbers of it are recorded */
};

struct talk_answer {
    struct buf text;
    struct json *tandem; /* NULL when it failed before a tier was known */
    double total_ms;
    bool stopped; /* by Ctrl-C, or because nobody reads any more; the exchange was cancelled */
    /* Called for each piece of text that may be shown; NULL = wait for the whole. */
    void (*on_text)(void *ctx, struct td_str text);
    void *ctx;
};

/* An event of signals.h while an answer comes: Ctrl-C, or the end of the program, stops it, with
 * TD_OK and `stopped`. The text is then what came until there. */
void talk_answer_init(struct talk_answer *answer);
void talk_answer_deinit(struct talk_answer *answer);

TD_MUST_CHECK enum td_status talk_local(struct runtime *runtime, struct loop *loop,
                                        const struct talk_request *request,
                                        struct talk_answer *answer, struct td_error *err);
TD_MUST_CHECK enum td_status talk_remote(const char *url, const struct talk_request *request,
                                         struct talk_answer *answer, struct td_error *err);

#endif
