/* One exchange in sentences: why it was answered where it was. For `tandem explain`, and for /why
 * in a conversation. */
#ifndef APP_EXPLANATION_H
#define APP_EXPLANATION_H

#include "tandem/types.h"

struct config;
struct json;

/* On standard output, in lines that fit the terminal. record: the object of ledger_reader_find.
 * False: there was no memory for it. */
bool explanation_show(const struct json *record);

/* The record in the ledger of a configuration, with what left for it. id: as for
 * ledger_reader_find. **returns new** (json_free). */
TD_MUST_CHECK enum td_status explanation_read(const struct config *config, const char *id,
                                              struct json **out, struct td_error *err);
/* The record of a running server. id: as for ledger_reader_find. **returns new** (json_free). */
TD_MUST_CHECK enum td_status explanation_fetch(const char *url, const char *id, struct json **out,
                                               struct td_error *err);

#endif
