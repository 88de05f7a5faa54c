/* The names of the conversation that a request continues. Pure functions; any thread. */
#ifndef EXCHANGE_CONVERSATION_ID_H
#define EXCHANGE_CONVERSATION_ID_H

#include "base/crypto/crypto.h"
#include "base/crypto/hash.h"
#include "base/text/names.h"
#include "request/request.h"

struct conversation_classes;

/* For the conversation's class: hashes of the caller and of the texts before the first answer, and
 * of these and that answer, all without their white space. A system message, a user's name or what
 * comes later do not change them. */
struct conversation_keys {
    uint64_t opening, conversation;
    bool answered;       /* else there is no `conversation` yet */
    bool begins_between; /* its opening has several texts: others may have begun with fewer */
};
struct conversation_keys conversation_id_keys(const struct td_request *request);

/* In the functions below `keys` are those of the request: to make them is to hash all that was said
 * before the first answer, so it is done once. */

/* Raises the class of the request's conversation to `seen` and returns it. masked: of what was left
 * of it after replacing values, which is remembered apart. classes NULL: nothing is remembered. */
enum td_data_class conversation_id_raise(struct conversation_classes *classes,
                                         const struct td_request *request,
                                         const struct conversation_keys *keys, bool masked,
                                         enum td_data_class seen);

/* A hash of an answer's text that comes in pieces: from CONVERSATION_ID_SILENCE on. */
#define CONVERSATION_ID_SILENCE HASH_FNV1A64_BASIS
uint64_t conversation_id_hear(uint64_t heard, struct td_str piece);
/* `conversation` of the keys that the next turn has, after that answer. */
uint64_t conversation_id_next(const struct conversation_keys *keys, uint64_t heard);
/* The request got this answer. If it is the first one, the conversation is known by it from now on,
 * with these classes: as it is, and of what is left of it behind pseudonyms. classes NULL: nothing
 * is done. */
void conversation_id_answer(struct conversation_classes *classes, const struct td_request *request,
                            const struct conversation_keys *keys, uint64_t heard,
                            const enum td_data_class found[2]);
/* For what is kept of the conversation: a digest of caller, user, first system message and first
 * question. owner: as conversation_id_owner. */
void conversation_id_digest(const struct td_request *request,
                            uint8_t key[static CRYPTO_SHA256_BYTES],
                            uint8_t owner[static CRYPTO_SHA256_BYTES]);
/* A digest of a tenant's user (privacy/pseudonym/vault_store.h). tenant: as td_request.tenant; user
 * NULL = nobody. */
void conversation_id_owner(const char *tenant, const char *user,
                           uint8_t owner[static CRYPTO_SHA256_BYTES]);

#endif
