/* Batches: what was asked, how far they are, and the answer of each line that has one. A line's
 * answer and the count of answered lines are one transaction. So a batch goes on after a crash with
 * the lines that have no answer, and each is answered once. Any thread. */
#ifndef LEDGER_BATCH_STORE_H
#define LEDGER_BATCH_STORE_H

#include "ledger/store/file_store.h"

#define BATCH_ENDPOINT_BYTES 32
#define BATCH_METADATA_BYTES 16384
#define BATCH_FAULTS_BYTES 16384
#define BATCH_KEY_ID_BYTES 32

/* In this order in the database: add at the end. */
enum batch_state {
    BATCH_VALIDATING,
    BATCH_FAILED,
    BATCH_IN_PROGRESS,
    BATCH_FINALIZING,
    BATCH_COMPLETED,
    BATCH_EXPIRED,
    BATCH_CANCELLING,
    BATCH_CANCELLED,
    BATCH_STATE_COUNT
};

struct stored_batch {
    char id[STORED_ID_BYTES];
    char owner[STORED_OWNER_BYTES], key_id[BATCH_KEY_ID_BYTES]; /* on whose behalf lines run */
    char endpoint[BATCH_ENDPOINT_BYTES], window[16];
    char input[STORED_ID_BYTES], output[STORED_ID_BYTES], errors[STORED_ID_BYTES]; /* "" = none */
    char metadata[BATCH_METADATA_BYTES]; /* a JSON object, or "" */
    char faults[BATCH_FAULTS_BYTES];     /* a JSON array, or "" */
    enum batch_state state;
    int64_t created_s, expires_s;
    int64_t times_s[BATCH_STATE_COUNT]; /* when it got into each state; 0 = never */
    uint64_t total, completed, failed;  /* lines */
};

/* Fills id, created_s and its state's time. TD_LIMIT: the owner has too many. TD_NOT_FOUND: the
 * input is not there any more. */
TD_MUST_CHECK enum td_status batch_store_add(struct file_store *store, struct stored_batch *batch,
                                             struct td_error *err);
/* owner NULL: anybody's. */
bool batch_store_find(struct file_store *store, const char *owner, struct td_str id,
                      struct stored_batch *out);
/* As file_store_list. */
bool batch_store_list(struct file_store *store, const char *owner, const struct stored_page *page,
                      void (*fn)(void *ctx, const struct stored_batch *batch), void *ctx);
/* The oldest batch with work to do of each owner, at most `limit`. Where nodes share the store, the
 * batches of this node: those that nobody else runs become its own for some seconds, and each call
 * makes it some seconds more. */
void batch_store_due(struct file_store *store, uint32_t limit,
                     void (*fn)(void *ctx, const struct stored_batch *batch), void *ctx);
/* Whether this node still runs it: another has taken it where batch_store_due was not called for
 * too long. */
bool batch_store_holds(struct file_store *store, const char *id);
/* Goes from one state to another and notes the time. TD_NOT_FOUND: it is not in `from` any more. */
TD_MUST_CHECK enum td_status batch_store_move(struct file_store *store, const char *id,
                                              enum batch_state from, enum batch_state to,
                                              struct td_error *err);
/* The end of validating: the number of lines, or what is wrong (faults). TD_NOT_FOUND. */
TD_MUST_CHECK enum td_status batch_store_checked(struct file_store *store, const char *id,
                                                 uint64_t total, const char *faults,
                                                 struct td_error *err);

/* The answer of a line (number from 0). ok: it is for the output, not for the errors. TD_NOT_FOUND:
 * there is no such batch, or its line has an answer. */
TD_MUST_CHECK enum td_status batch_store_answer(struct file_store *store, const char *id,
                                                uint64_t number, bool ok, struct td_str text,
                                                struct td_error *err);
/* Marks each answered line in done[(total + 7) / 8], a bit a line. */
TD_MUST_CHECK enum td_status batch_store_answered(struct file_store *store, const char *id,
                                                  uint64_t total, uint8_t *done,
                                                  struct td_error *err);
/* The answers from line `first` on, in their order, at most `limit`; fn returns false to stop. */
TD_MUST_CHECK enum td_status
batch_store_answers(struct file_store *store, const char *id, uint64_t first, uint32_t limit,
                    bool (*fn)(void *ctx, uint64_t number, bool ok, struct td_str text), void *ctx,
                    struct td_error *err);
/* The end: the two files are the owner's, and the answers go. A draft that is NULL, or empty, is
 * none. **takes** both drafts. failed: as it is then counted. */
TD_MUST_CHECK enum td_status batch_store_finish(struct file_store *store,
                                                const struct stored_batch *batch,
                                                enum batch_state to, uint64_t failed,
                                                struct file_draft *output,
                                                struct file_draft *errors, struct td_error *err);

#endif
