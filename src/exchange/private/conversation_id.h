/* The names of the conversation that a request continues. Pure functions; any thread. */
#ifndef EXCHANGE_CONVERSATION_ID_H
#define EXCHANGE_CONVERSATION_ID_H

#include "base/crypto.h"
#include "base/names.h"
#include "request/request.h"

struct conversation_classes;

/* For the conversation's class: a hash of the caller and of the first text of a user, without its
 * white space. A system message, a user's name or other parts that come later do not change it. */
uint64_t conversation_id_key(const struct td_request *request);
/* Raises the class of the request's conversation to `seen` and returns it. masked: of what was left
 * of it after replacing values, which is remembered apart. classes NULL: nothing is remembered. */
enum td_data_class conversation_id_raise(struct conversation_classes *classes,
                                         const struct td_request *request, bool masked,
                                         enum td_data_class seen);
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
