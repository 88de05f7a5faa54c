/* Whether a local tier may use its model: models.few_bits and models.too_old of the configuration.
 * An evaluation that passed (evaluation_file.h) settles doubts of bits. A reload judges anew. No
 * state; any thread. */
#ifndef APP_MODEL_POLICY_H
#define APP_MODEL_POLICY_H

#include "app/config/config.h"
#include "app/setup/model/bit_policy.h"
#include "app/setup/model/evaluation_file.h"
#include "app/setup/model/local_model.h"

#define MODEL_DOUBT_BYTES 256

/* What nobody has measured of a model's bits; BITS_ENOUGH where an evaluation has passed. */
struct bits_finding {
    enum bit_doubt doubt;
    enum evaluation_verdict verdict;
    char why[MODEL_DOUBT_BYTES], day[EVALUATION_DAY_BYTES]; /* of the verdict */
};
/* identity NULL: nothing is known of the model. */
void model_policy_find_bits(const struct config *config, const struct config_tier *tier,
                            const struct td_model_info *info,
                            const struct confidence_binding *identity, struct bits_finding *out);

struct model_judgement {
    const char
        *refused; /* a code for model_fault, "few_bits" or "too_old"; NULL = it may be used */
    char why[MODEL_DOUBT_BYTES];
    char unproven[MODEL_DOUBT_BYTES]; /* why it is not for medicine and law; "" = it is */
};

/* says: what is only warned of is logged. */
void model_policy_judge(const struct config *config, const struct config_tier *tier,
                        const struct local_model *model, bool says, struct model_judgement *out);

#endif
