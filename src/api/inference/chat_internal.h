/* What a chat is made of, for the two files that run it: chat_handler.c, and chat_background.c for
 * one that goes on without a client. One loop's thread. */
#ifndef API_CHAT_INTERNAL_H
#define API_CHAT_INTERNAL_H

#include "api/deferral/deferral_draft.h"
#include "api/dialects/dialect.h"
#include "api/http/call.h"
#include "api/http/reply.h"
#include "api/inference/kept_answer.h"

struct chat {
    struct api_call base; /* first */
    const struct dialect *dialect;
    struct event_stream stream;        /* its http is NULL once replied or gone */
    struct background_task *compiling; /* what the exchange waits for, or NULL */
    struct history_wait *saving;       /* what the last bytes wait for, or NULL */
    char call_fault[96];               /* where the tools are that no grammar holds */
    struct exchange *exchange;         /* NULL before it began and once final */
    struct exchange_services *services;
    struct arena *arena;
    struct chat_request request;
    struct dialect_reply reply;
    struct loop_timer *reaper;
    struct buf filled; /* the request's body with the files that it names */
    struct buf body;   /* the whole reply */
    struct deferral_draft draft;
    struct fault *fault;       /* why the answer cannot be given; NULL = it can */
    bool opened;               /* the dialect's first events are out */
    bool detached;             /* goes on without a client */
    struct loop_timer *wanted; /* looks whether it was cancelled; NULL = not detached */
    bool in_event;             /* inside the exchange's callback: it must not be cancelled now */
};

/* Stops an exchange that nobody waits for any more. Must not be called inside its callback. */
void chat_cancel(struct chat *chat);
/* It is freed in the loop's next turn. */
void chat_end(struct chat *chat);
struct kept_answer chat_kept(const struct chat *chat);

/* From now on the exchange needs no client. One that does not read a stream gets its id at once. */
bool chat_detach(struct chat *chat, struct fault *fault);

#endif
