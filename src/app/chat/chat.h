/* A conversation with the models, and what is shown of it: the state that `tandem chat` and `tandem
 * ask` share. Main thread; one a process. */
#ifndef APP_CHAT_H
#define APP_CHAT_H

#include "app/chat/conversation.h"
#include "app/cli/talk.h"
#include "app/setup/process/runtime.h"
#include "app/terminal/terminal.h"
#include "app/terminal/word_wrap.h"

#define CHAT_NAME_BYTES 128
#define CHAT_NAMES_MAX 128
#define CHAT_PATH_BYTES 4096
#define CHAT_ATTACHED_BYTES_MAX (1u << 20) /* of all files that go with one message */

enum chat_code { CHAT_ANSWERED = 0, CHAT_FAILED = 1, CHAT_STOPPED = 130 };

struct chat_totals {
    unsigned answers, stopped;
    double cost_usd, all_cloud_cost_usd;
    uint64_t egress_bytes;
};

struct chat {
    const char *verb; /* of messages: "chat" or "ask" */
    /* Where answers come from: this process, or the server at `url` (runtime and loop NULL). */
    struct runtime *runtime;
    struct loop *loop;
    const char *url;
    /* How they are asked for. messages are filled in for each question. */
    struct talk_request request;
    char model[CHAT_NAME_BYTES]; /* request.model points here, or is NULL */
    enum td_mode mode_before;    /* the conversation was private */
    bool json;                   /* answers are JSON, and nothing else is shown */
    bool brief;                  /* only the answer is on standard output */
    struct terminal terminal;
    struct conversation conversation;
    struct buf attached; /* files for the next message */
    unsigned attached_count;
    char saved_as[CHAT_PATH_BYTES]; /* by /save or /load; "" = not */
    struct chat_totals totals;
    char last_exchange[64]; /* "" = none yet */
    int last_class;         /* enum td_data_class of the last question; -1 = not known */
    struct word_wrap wrap;  /* of the answer that is shown */
    bool waits;             /* what stands for the answer until it begins is on the screen */
    /* What /model may be given: routes, tiers and models. */
    char names[CHAT_NAMES_MAX][CHAT_NAME_BYTES];
    size_t name_count;
};

/* verb, url, request and json are set by the caller. Opens what answers, and takes signals from now
 * on. It is to be closed also after a failure. */
TD_MUST_CHECK enum td_status chat_open(struct chat *chat, const struct runtime_options *options,
                                       struct td_error *err);
void chat_close(struct chat *chat);

/* Asks, with what was attached, and shows answer and footer. A stopped answer stays in the
 * conversation as far as it came; a question without any answer is forgotten. */
enum chat_code chat_ask(struct chat *chat, struct td_str text);

/* A sentence for the user, in lines of the terminal's width: on standard output on a terminal, else
 * on standard error. */
void chat_say(const struct chat *chat, const char *format, ...) TD_PRINTF(2, 3);

void chat_show_banner(const struct chat *chat);
/* The line after an answer. */
void chat_show_footer(const struct chat *chat, const struct talk_answer *answer);
/* Tiers and routes, the chosen one marked. */
void chat_show_models(const struct chat *chat);
void chat_show_cost(const struct chat *chat);
/* Fills names. It fails only where the server at `url` cannot be reached. */
TD_MUST_CHECK enum td_status chat_read_names(struct chat *chat, struct td_error *err);

#endif
