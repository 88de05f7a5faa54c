/* Gaps of a text (tokenizer/infill.h) by the model that is to fill them. Any thread. */
#ifndef ENGINE_MODEL_INFILL_H
#define ENGINE_MODEL_INFILL_H

#include "engine/tokenizer/infill.h"

struct td_model;

/* The key that the model's file lacks; NULL: it fills gaps. */
const char *model_infill_missing(const struct td_model *model);
/* As infill_encode. */
TD_MUST_CHECK enum td_status model_infill_encode(const struct td_model *model,
                                                 const struct infill_gap *gap, struct buf *ids,
                                                 struct td_error *err);

#endif
