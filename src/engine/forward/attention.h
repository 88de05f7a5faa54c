/* Attention of a batch over the pages of its sequences. Called on the workspace's thread. */
#ifndef ENGINE_ATTENTION_H
#define ENGINE_ATTENTION_H

#include "engine/forward/forward_step.h"

/* Cuts the rows of the batch (workspace->rows) into tiles and runs. Call it once for each pass. */
void attention_plan(struct batch *batch);

/* Computes workspace->attended for batch->layer from workspace->query and the pages. The pages must
 * hold the keys and values of the batch's own rows. */
void attention_run(struct batch *batch);

#endif
