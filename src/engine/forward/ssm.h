/* Mamba-2 layers (Dao & Gu 2024, Transformers are SSMs, section 7.1), which some layers have
 * instead of attention. Of three products of the layer's input
 *
 *   (x, B, C) = silu(conv + bias), a causal convolution of each channel over `width` positions
 *   dt = softplus(dt + bias), one for each head
 *   state[p, n] = exp(dt A) state[p, n] + dt x[p] B[n]    for each head, p in head, n in state
 *   y[p] = sum over n of state[p, n] C[n] + D x[p]
 *
 * and the layer adds W norm(y * silu(z)). (x, B, C), dt and z stand in the workspace as query, key
 * and value, and what W multiplies as what was attended. The state of a layer is the last
 * width - 1 inputs of the convolution, oldest first, and then the heads' states. It goes token by
 * token, so the result does not depend on how a text was cut; a head's state stays in the first
 * cache while it runs through the tokens of a pass. Called on the workspace's thread. */
#ifndef ENGINE_SSM_H
#define ENGINE_SSM_H

#include "engine/forward/forward_step.h"

/* Advances the states, and computes workspace->attended of all rows. */
void ssm_run(struct batch *batch);

#endif
