/* What a key may do, as somebody asks for it: any JSON is refused with words and changes nothing,
 * or becomes terms that can be written and read again. */
#include "base/core/str.h"
#include "base/json/json.h"
#include "base/key_terms.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void write_again(const struct key_terms *terms)
{
    struct json *object = json_new_object();
    struct key_terms again = key_terms_none;
    key_terms_put(terms, object);
    if (key_terms_read(object, &again, NULL, NULL) != TD_OK ||
        again.requests_per_minute != terms->requests_per_minute ||
        again.tokens[KEY_MONTH] != terms->tokens[KEY_MONTH] || again.weight != terms->weight ||
        again.classes != terms->classes || strcmp(again.models, terms->models) != 0 ||
        strcmp(again.tiers, terms->tiers) != 0 ||
        fabs(again.usd[KEY_DAY] - terms->usd[KEY_DAY]) > 1e-3)
        abort();
    json_free(object);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct json *object = NULL;
    struct td_error err = {0};
    struct key_terms terms = key_terms_none;
    if (json_parse((struct td_str){(const char *)data, size}, &object, NULL) != TD_OK)
        return 0;
    const char *member = NULL;
    enum td_status status = key_terms_read(object, &terms, &member, &err);
    if (status == TD_OK && (terms.weight == 0 || terms.weight > KEY_WEIGHT_MAX))
        abort();
    if (status == TD_OK)
        write_again(&terms);
    else if (!*err.message || memcmp(&terms, &key_terms_none, sizeof terms) != 0)
        abort();
    (void)key_list_has(terms.models, STR("auto"));
    json_free(object);
    return 0;
}
