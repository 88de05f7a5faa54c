/* Grammars of calls that were compiled lately (tier/call_grammar.h): a client sends the same tools
 * with each turn. Bounded in number and bytes; the least recently used goes first. Any thread. */
#ifndef API_CALL_CACHE_H
#define API_CALL_CACHE_H

#include "request/request.h"

struct call_cache;

struct call_cache *call_cache_new(void); /* **returns new** (call_cache_free); NULL: no memory */
void call_cache_free(struct call_cache *cache); /* accepts NULL */

/* The grammar of an earlier request of the same caller with the same tools, choice and format;
 * NULL = there is none, also for cache NULL. **returns new** (td_grammar_free). */
struct td_grammar *call_cache_find(struct call_cache *cache, const struct td_request *request);
/* Keeps a reference. Accepts NULL for cache. */
void call_cache_put(struct call_cache *cache, const struct td_request *request,
                    struct td_grammar *grammar);

#endif
