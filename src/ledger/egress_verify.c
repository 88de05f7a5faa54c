#include "ledger/egress_verify.h"

#include "base/error.h"
#include "base/str.h"
#include "ledger/egress_line.h"
#include "ledger/egress_read.h"

#include <stdio.h>
#include <stdlib.h>

struct verifier {
    struct egress_verdict *verdict;
    const char *key; /* asked for; NULL: none */
    struct egress_chain chain;
    struct egress_head *heads; /* [verdict->head_count] */
    size_t capacity, next;     /* next: the first that lies at or after the chain's end */
};

static enum td_status find_fault(struct verifier *verifier, uint64_t row, const char *where,
                                 const struct td_error *cause)
{
    struct egress_verdict *verdict = verifier->verdict;
    verdict->bad_row = row;
    verdict->sound = false;
    if (row)
        snprintf(verdict->problem, sizeof verdict->problem, "row %llu: %.240s",
                 (unsigned long long)row, cause->message);
    else
        snprintf(verdict->problem, sizeof verdict->problem, "%s: %.240s", where, cause->message);
    return TD_CANCELLED; /* the first fault ends the reading */
}

static enum td_status take_key(struct verifier *verifier, struct td_str hex)
{
    struct td_error cause = {0};
    uint8_t bytes[CRYPTO_SIGN_KEY_BYTES];
    if (!crypto_unhex(hex, bytes, sizeof bytes))
        error_set(&cause, TD_CORRUPT, "it is not 64 hex digits");
    else if (verifier->key && !str_equal(hex, str_from(verifier->key)))
        error_set(&cause, TD_CORRUPT, "it is " STR_FMT ", not the one that was asked for",
                  STR_ARG(hex));
    if (cause.status != TD_OK)
        return find_fault(verifier, 0, "the public key", &cause);
    memcpy(verifier->verdict->key, hex.data, hex.len);
    verifier->verdict->key[hex.len] = '\0';
    return TD_OK;
}

/* Heads in order, each later than the one before and not shorter (a new day's may have announced a line
 * that was never written), all by one key, all before the lines that they were signed over. */
static enum td_status take_head(struct verifier *verifier, struct td_str line, struct td_error *err)
{
    struct egress_verdict *verdict = verifier->verdict;
    struct egress_head head;
    struct td_error cause = {0};
    if (verdict->head_count == verifier->capacity) {
        size_t capacity = verifier->capacity ? verifier->capacity * 2 : 64;
        struct egress_head *heads = realloc(verifier->heads, capacity * sizeof *heads);
        if (!heads)
            return error_set(err, TD_NO_MEMORY, "no memory for %zu heads", capacity);
        verifier->heads = heads;
        verifier->capacity = capacity;
    }
    const struct egress_head *before =
        verdict->head_count ? &verifier->heads[verdict->head_count - 1] : NULL;
    if (egress_head_read(line, &head, &cause) == TD_OK) {
        if (verdict->key[0] && strcmp(head.key, verdict->key) != 0)
            error_set(&cause, TD_CORRUPT, "the head of %s was signed by another key, %s", head.date,
                      head.key);
        else if (verifier->key && strcmp(head.key, verifier->key) != 0)
            error_set(&cause, TD_CORRUPT, "the head of %s was signed by %s", head.date, head.key);
        else if (verifier->chain.count)
            error_set(&cause, TD_CORRUPT, "the head of %s stands after transfers", head.date);
        else if (before &&
                 (strcmp(head.date, before->date) <= 0 || head.chain.count < before->chain.count))
            error_set(&cause, TD_CORRUPT, "the head of %s does not go on from that of %s",
                      head.date, before->date);
    }
    if (cause.status != TD_OK) {
        char where[48];
        snprintf(where, sizeof where, "head %llu", (unsigned long long)verdict->head_count + 1);
        return find_fault(verifier, 0, where, &cause);
    }
    memcpy(verdict->key, head.key, sizeof verdict->key);
    verifier->heads[verdict->head_count++] = head;
    return TD_OK;
}

/* Each head that was signed over the chain as long as it is now. */
static enum td_status compare_heads(struct verifier *verifier)
{
    struct td_error cause = {0};
    for (; verifier->next < verifier->verdict->head_count; verifier->next++) {
        const struct egress_head *head = &verifier->heads[verifier->next];
        if (head->chain.count != verifier->chain.count)
            break;
        if (strcmp(head->chain.hash, verifier->chain.hash) == 0)
            continue;
        error_set(&cause, TD_CORRUPT, "it is not the row that the head of %s was signed over",
                  head->date);
        return find_fault(verifier, verifier->chain.count, "", &cause);
    }
    return TD_OK;
}

static enum td_status take_entry(struct verifier *verifier, struct td_str line)
{
    struct td_error cause = {0};
    uint64_t row = verifier->chain.count + 1;
    enum td_status status = compare_heads(verifier);
    if (status != TD_OK)
        return status;
    if (egress_line_follow(line, &verifier->chain, &cause) != TD_OK)
        return find_fault(verifier, row, "", &cause);
    verifier->verdict->entry_count = row;
    return TD_OK;
}

static enum td_status take_line(void *ctx, struct td_str line, struct td_error *err)
{
    struct verifier *verifier = ctx;
    const struct td_str key = STR("{\"public_key\":\"");
    if (egress_is_entry(line))
        return take_entry(verifier, line);
    if (str_starts_with(line, STR("{\"date\":")))
        return take_head(verifier, line, err);
    if (str_starts_with(line, key) && str_ends_with(line, STR("\"}")))
        return take_key(verifier, str_slice(line, key.len, line.len - 2));
    struct td_error cause = {0};
    error_set(&cause, TD_CORRUPT, "it is not a line of an egress ledger");
    return find_fault(verifier, verifier->chain.count + 1, "", &cause);
}

/* What only the whole shows: a tail that was cut, or one that nobody signed. */
static void judge_end(struct verifier *verifier)
{
    static const struct egress_head none = {.chain = {0, EGRESS_NO_HASH}, .next = EGRESS_NO_HASH};
    struct egress_verdict *verdict = verifier->verdict;
    struct td_error cause = {0};
    uint64_t count = verifier->chain.count;
    if (compare_heads(verifier) != TD_OK)
        return;
    const struct egress_head *last =
        verdict->head_count ? &verifier->heads[verdict->head_count - 1] : &none;
    switch (egress_head_compare(last, &verifier->chain)) {
    case EGRESS_END_SIGNED:
        return;
    case EGRESS_END_UNWRITTEN:
        verdict->unwritten_rows = 1;
        return;
    case EGRESS_END_UNSIGNED:
        verdict->unsigned_rows = 1;
        return;
    case EGRESS_END_CUT:
        last = &verifier->heads[verifier->next]; /* the first that counts more */
        error_set(&cause, TD_CORRUPT,
                  "it is missing: the head of %s counts %llu rows, %llu are there", last->date,
                  (unsigned long long)last->chain.count, (unsigned long long)count);
        find_fault(verifier, count + 1, "", &cause);
        return;
    case EGRESS_END_FORGED:
        error_set(&cause, TD_CORRUPT, "no signed head covers or announces it");
        find_fault(verifier, last->chain.count + 1, "", &cause);
    }
}

enum td_status egress_verify(const char *path, const char *key, struct egress_verdict *out,
                             struct td_error *err)
{
    struct verifier verifier = {.verdict = out, .key = key, .chain = {0, EGRESS_NO_HASH}};
    *out = (struct egress_verdict){.sound = true};
    struct td_error cause = {0};
    enum td_status status = egress_each_line(path, take_line, &verifier, &cause);
    if (status == TD_OK)
        judge_end(&verifier);
    free(verifier.heads);
    if (status == TD_CORRUPT)
        status = find_fault(&verifier, verifier.chain.count + 1, "", &cause);
    else if (err && status != TD_OK)
        *err = cause;
    return status == TD_CANCELLED && !out->sound ? TD_OK : status;
}
