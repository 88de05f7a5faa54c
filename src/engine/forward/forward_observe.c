/* Shows the inputs of matrices to an observer, who gathers how large the inputs of each column are:
 * what a quantiser must know to spare the columns that matter. */
#include "engine/forward/forward_step.h"

static const float *input_row(const struct batch *batch, size_t row)
{
    size_t from = batch->inputs_from ? batch->inputs_from[row] : row;
    return batch->inputs + from * batch->inputs_size;
}

void forward_observe(const struct step *step)
{
    const struct workspace_observer *observer = step->batch->workspace->observer;
    if (observer == NULL)
        return;
    for (uint32_t p = 0; p < step->product_count; p++)
        for (uint32_t row = 0; row < step->input_count; row++)
            observer->input(observer->ctx, step->products[p].weight, 0,
                            input_row(step->batch, row));
}

void forward_observe_experts(const struct step *step)
{
    const struct workspace *workspace = step->batch->workspace;
    const struct workspace_observer *observer = workspace->observer;
    const struct workspace_experts *experts = &workspace->experts;
    if (observer == NULL)
        return;
    for (uint32_t a = 0; a < experts->active_count; a++) {
        uint32_t expert = experts->active[a];
        for (uint32_t place = experts->first_place[expert];
             place < experts->first_place[expert + 1]; place++)
            for (uint32_t p = 0; p < step->product_count; p++)
                observer->input(observer->ctx, step->products[p].weight, expert,
                                input_row(step->batch, place));
    }
}
