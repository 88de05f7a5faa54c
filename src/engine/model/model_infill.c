#include "engine/model/model_infill.h"

#include "engine/model/model.h"

const char *model_infill_missing(const struct td_model *model)
{
    return infill_missing(model->tokenizer);
}

enum td_status model_infill_encode(const struct td_model *model, const struct infill_gap *gap,
                                   struct buf *ids, struct td_error *err)
{
    return infill_encode(model->tokenizer, gap, ids, err);
}
