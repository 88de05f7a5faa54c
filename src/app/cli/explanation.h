/* One exchange in sentences: why it was answered where it was. For `tandem explain`, and for /why
 * in a conversation. */
#ifndef APP_EXPLANATION_H
#define APP_EXPLANATION_H

#include "tandem/types.h"

#include <stdio.h>

struct json;

/* record: the object of ledger_reader_find. */
void explanation_print(const struct json *record, FILE *out);
/* On standard output, in lines that fit the terminal. False: there was no memory for it. */
bool explanation_show(const struct json *record);

/* The record of a running server. id: as for ledger_reader_find. **returns new** (json_free). */
TD_MUST_CHECK enum td_status explanation_fetch(const char *url, const char *id, struct json **out,
                                               struct td_error *err);

#endif
