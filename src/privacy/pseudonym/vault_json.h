/* A vault as JSON, for a caller that stores it:
 *   {"version": 2, "key": HEX, "pairs": [{"type", "form", "surrogate", "value", "salt"}]} */
#ifndef PRIVACY_VAULT_JSON_H
#define PRIVACY_VAULT_JSON_H

#include "base/json/json.h"
#include "privacy/pseudonym/vault.h"

#define VAULT_JSON_VERSION 2

/* **returns new** (json_free); NULL without memory. */
struct json *vault_json_write(const struct vault *vault);
/* *out **returns new** (vault_free). TD_CORRUPT for what vault_json_write does not write. */
TD_MUST_CHECK enum td_status vault_json_read(const struct json *json, struct vault **out,
                                             struct td_error *err);

#endif
