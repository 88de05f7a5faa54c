/* Files of JSON objects, one a line. Single-threaded. */
#ifndef ROUTER_JSON_LINES_H
#define ROUTER_JSON_LINES_H

#include "base/json/json.h"

/* **borrows** the line during the call. */
typedef enum td_status json_lines_fn(void *ctx, const struct json *line, struct td_error *err);

/* Calls back with each line that is not blank, until one fails. A failure gets "line N: " before
 * its message; N counts from 1. */
TD_MUST_CHECK enum td_status json_lines_each(struct td_str text, json_lines_fn *fn, void *ctx,
                                             struct td_error *err);

#endif
