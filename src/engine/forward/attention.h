/* Attention of a batch over the pages of its sequences. */
#ifndef ENGINE_ATTENTION_H
#define ENGINE_ATTENTION_H

#include "engine/forward/forward_step.h"

/* Cuts the batch's rows (workspace->rows) into tiles and runs; once a pass. */
void attention_plan(struct batch *batch);

/* workspace->attended of batch->layer from workspace->query and the pages, which hold the keys and
 * values of the batch's own rows already. */
void attention_run(struct batch *batch);

#endif
