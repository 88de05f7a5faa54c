/* Whether the engine would load the file that a folder is about to become. Asked before the long
 * work, because a folder may lack a tensor, or have one too many for its config.json. */
#ifndef QUANT_CONVERT_CHECK_H
#define QUANT_CONVERT_CHECK_H

#include "quant/convert/hf_weights.h"
#include "quant/encode/encode_file.h"

/* folder: for the message. TD_CORRUPT and others: what the engine says, and the name in the folder
 * of a tensor that is missing. */
TD_MUST_CHECK enum td_status convert_check(const char *folder, const char *architecture,
                                           const struct hf_weights *weights,
                                           const struct encode_job *job, struct td_error *err);

#endif
