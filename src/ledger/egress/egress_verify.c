/* Checks an egress log from its first line to its last: the chain of hashes, the signed heads, and
 * the heads or the key that somebody kept elsewhere. The first fault ends the check, because
 * everything after it proves nothing. */
#include "ledger/egress/egress_verify.h"

#include "base/core/assertion.h"
#include "base/core/error.h"
#include "base/core/str.h"
#include "ledger/egress/egress_line.h"
#include "ledger/egress/egress_pending.h"
#include "ledger/egress/egress_read.h"

#include <stdio.h>
#include <stdlib.h>

/* Heads in the order of the rows that they count to. */
struct head_list {
    const char *name;
    struct egress_head *heads; /* [count] */
    size_t count, capacity;
    size_t next; /* the first one at or after the end of the chain */
};

struct verifier {
    struct egress_verdict *verdict;
    char key[EGRESS_KEY_HEX + 1]; /* that must have signed; "" = any */
    struct egress_chain chain;
    char pending[EGRESS_HASH_HEX + 1]; /* the hash of the token; EGRESS_NO_HASH: none was met */
    struct head_list signed_heads, kept_heads;
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
    else if (verifier->key[0] && !str_equal(hex, str_from(verifier->key)))
        error_set(&cause, TD_CORRUPT, "it is " STR_FMT ", not the expected one", STR_ARG(hex));
    if (cause.status != TD_OK)
        return find_fault(verifier, 0, "the public key", &cause);
    memcpy(verifier->verdict->key, hex.data, hex.len);
    verifier->verdict->key[hex.len] = '\0';
    return TD_OK;
}

static enum td_status add_head(struct head_list *list, const struct egress_head *head,
                               struct td_error *err)
{
    if (list->count == list->capacity) {
        size_t capacity = list->capacity ? list->capacity * 2 : 64;
        struct egress_head *heads = realloc(list->heads, capacity * sizeof *heads);
        if (!heads)
            return error_set(err, TD_NO_MEMORY, "no memory for %zu heads", capacity);
        list->heads = heads;
        list->capacity = capacity;
    }
    list->heads[list->count++] = *head;
    return TD_OK;
}

static enum td_status find_head_fault(struct verifier *verifier, const struct head_list *list,
                                      const struct td_error *cause)
{
    char where[48];
    snprintf(where, sizeof where, "%s %zu", list->name, list->count + 1);
    return find_fault(verifier, 0, where, cause);
}

/* Takes a signed head. Heads must be in order, each later than the one before and not shorter, all
 * by one key, and all in front of the entries. A new day's head may have announced a line that was
 * never written. */
static enum td_status take_head(struct verifier *verifier, struct td_str line, struct td_error *err)
{
    struct egress_verdict *verdict = verifier->verdict;
    struct head_list *list = &verifier->signed_heads;
    struct egress_head head;
    struct td_error cause = {0};
    const struct egress_head *before = list->count ? &list->heads[list->count - 1] : NULL;
    if (egress_head_read(line, &head, &cause) == TD_OK) {
        if (verdict->key[0] && strcmp(head.key, verdict->key) != 0)
            error_set(&cause, TD_CORRUPT, "the head of %s was signed by another key, %s", head.date,
                      head.key);
        else if (verifier->key[0] && strcmp(head.key, verifier->key) != 0)
            error_set(&cause, TD_CORRUPT, "the head of %s was signed by %s", head.date, head.key);
        else if (verifier->chain.count)
            error_set(&cause, TD_CORRUPT, "the head of %s comes after entries", head.date);
        else if (before &&
                 (strcmp(head.date, before->date) <= 0 || head.chain.count < before->chain.count))
            error_set(&cause, TD_CORRUPT, "the head of %s does not continue that of %s", head.date,
                      before->date);
    }
    if (cause.status != TD_OK)
        return find_head_fault(verifier, list, &cause);
    memcpy(verdict->key, head.key, sizeof verdict->key);
    verdict->head_count++;
    return add_head(list, &head, err);
}

/* Takes a head that was kept elsewhere. Several may be of one day, and mail or a printer may have
 * added spaces. */
static enum td_status take_kept_head(struct verifier *verifier, struct td_str line,
                                     struct td_error *err)
{
    struct head_list *list = &verifier->kept_heads;
    struct egress_head head;
    struct td_error cause = {0};
    const struct egress_head *before = list->count ? &list->heads[list->count - 1] : NULL;
    if (egress_head_read(line, &head, &cause) == TD_OK) {
        if (verifier->key[0] && strcmp(head.key, verifier->key) != 0)
            error_set(&cause, TD_CORRUPT, "it was signed by another key, %s", head.key);
        else if (before && head.chain.count < before->chain.count)
            error_set(&cause, TD_CORRUPT, "it counts fewer transfers than the one before it");
    }
    if (cause.status != TD_OK)
        return find_head_fault(verifier, list, &cause);
    memcpy(verifier->key, head.key, sizeof verifier->key);
    return add_head(list, &head, err);
}

static enum td_status take_kept(struct verifier *verifier, const struct egress_kept *kept,
                                struct td_error *err)
{
    struct td_str rest = kept->heads, line;
    enum td_status status = TD_OK;
    if (kept->key)
        snprintf(verifier->key, sizeof verifier->key, "%s", kept->key);
    while (status == TD_OK && str_next(&rest, '\n', &line))
        if ((line = str_trim(line)).len > 0)
            status = take_kept_head(verifier, line, err);
    return status;
}

/* Compares each head that was signed over the chain at its present length. */
static enum td_status compare_heads(struct verifier *verifier, struct head_list *list)
{
    struct td_error cause = {0};
    for (; list->next < list->count; list->next++) {
        const struct egress_head *head = &list->heads[list->next];
        if (head->chain.count != verifier->chain.count)
            break;
        if (strcmp(head->chain.hash, verifier->chain.hash) == 0)
            continue;
        error_set(&cause, TD_CORRUPT, "it is not the row that the %s of %s signed", list->name,
                  head->date);
        return find_fault(verifier, verifier->chain.count, "", &cause);
    }
    return TD_OK;
}

static enum td_status compare_all_heads(struct verifier *verifier)
{
    enum td_status status = compare_heads(verifier, &verifier->signed_heads);
    return status == TD_OK ? compare_heads(verifier, &verifier->kept_heads) : status;
}

/* Looks for a head that counts more rows than there are. */
static void find_cut(struct verifier *verifier, const struct head_list *list)
{
    struct td_error cause = {0};
    uint64_t count = verifier->chain.count;
    const struct egress_head *head =
        &list->heads[list->next < list->count ? list->next : list->count - 1];
    error_set(&cause, TD_CORRUPT, "it is missing: the %s of %s counts %llu rows, %llu are there",
              list->name, head->date, (unsigned long long)egress_head_rows(head),
              (unsigned long long)count);
    find_fault(verifier, count + 1, "", &cause);
}

static enum td_status take_entry(struct verifier *verifier, struct td_str line)
{
    struct td_error cause = {0};
    uint64_t row = verifier->chain.count + 1;
    enum td_status status = compare_all_heads(verifier);
    if (status != TD_OK)
        return status;
    if (egress_line_follow(line, &verifier->chain, &cause) != TD_OK)
        return find_fault(verifier, row, "", &cause);
    verifier->verdict->entry_count = row;
    return TD_OK;
}

/* Takes the token of the last head. */
static enum td_status take_token(struct verifier *verifier, struct td_str token)
{
    struct td_error cause = {0};
    const struct head_list *list = &verifier->signed_heads;
    const struct egress_head *last = list->count ? &list->heads[list->count - 1] : NULL;
    if (verifier->chain.count || !last || !egress_pending_hash(token, verifier->pending) ||
        strcmp(verifier->pending, last->pending) != 0) {
        error_set(&cause, TD_CORRUPT, "no head before it has announced it");
        return find_fault(verifier, 0, "the pending token", &cause);
    }
    return TD_OK;
}

static enum td_status take_line(void *ctx, struct td_str line, struct td_error *err)
{
    struct verifier *verifier = ctx;
    const struct td_str key = STR("{\"public_key\":\""), token = STR("{\"pending\":\"");
    if (egress_is_entry(line))
        return take_entry(verifier, line);
    if (str_starts_with(line, STR("{\"date\":")))
        return take_head(verifier, line, err);
    if (str_starts_with(line, key) && str_ends_with(line, STR("\"}")))
        return take_key(verifier, str_slice(line, key.len, line.len - 2));
    if (str_starts_with(line, token) && str_ends_with(line, STR("\"}")))
        return take_token(verifier, str_slice(line, token.len, line.len - 2));
    struct td_error cause = {0};
    error_set(&cause, TD_CORRUPT, "it is not a line of an egress ledger");
    return find_fault(verifier, verifier->chain.count + 1, "", &cause);
}

/* Judges what only the whole log shows: a tail that was cut off, a tail that nobody signed, or
 * fewer rows than a kept head counts. */
static void judge_end(struct verifier *verifier)
{
    static const struct egress_head none = {.chain = {0, EGRESS_NO_HASH}, .next = EGRESS_NO_HASH};
    struct egress_verdict *verdict = verifier->verdict;
    struct td_error cause = {0};
    const struct head_list *list = &verifier->signed_heads;
    const struct egress_head *last = list->count ? &list->heads[list->count - 1] : &none;
    if (compare_all_heads(verifier) != TD_OK)
        return;
    switch (egress_head_compare(last, &verifier->chain, verifier->pending)) {
    case EGRESS_END_SIGNED:
        break;
    case EGRESS_END_UNWRITTEN:
        verdict->unwritten_rows = 1;
        break;
    case EGRESS_END_UNSIGNED:
        verdict->unsigned_rows = 1;
        break;
    case EGRESS_END_CUT:
        find_cut(verifier, list);
        return;
    case EGRESS_END_FORGED:
        error_set(&cause, TD_CORRUPT, "no signed head covers or announces it");
        find_fault(verifier, last->chain.count + 1, "", &cause);
        return;
    }
    if (verifier->kept_heads.next < verifier->kept_heads.count)
        find_cut(verifier, &verifier->kept_heads);
}

enum td_status egress_verify(const char *path, const struct egress_kept *kept,
                             struct egress_verdict *out, struct td_error *err)
{
    ASSERT(path != NULL && out != NULL);
    struct verifier verifier = {.verdict = out,
                                .chain = {0, EGRESS_NO_HASH},
                                .pending = EGRESS_NO_HASH,
                                .signed_heads = {.name = "head"},
                                .kept_heads = {.name = "kept head"}};
    struct td_error cause = {0};
    *out = (struct egress_verdict){.sound = true};
    enum td_status status = kept ? take_kept(&verifier, kept, &cause) : TD_OK;
    if (status == TD_OK)
        status = egress_each_line(path, take_line, &verifier, &cause);
    if (status == TD_OK)
        judge_end(&verifier);
    free(verifier.signed_heads.heads);
    free(verifier.kept_heads.heads);
    if (status == TD_CORRUPT)
        status = find_fault(&verifier, verifier.chain.count + 1, "", &cause);
    else if (err && status != TD_OK)
        *err = cause;
    return status == TD_CANCELLED && !out->sound ? TD_OK : status;
}
