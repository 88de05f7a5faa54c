/* Inputs of layers (Google DeepMind, Gemma 3n and Gemma 4: per-layer embeddings). A second table
 * has for each token a short vector for each layer. It and a projection of the token's embedding h
 * are
 *
 *   input[l] = (norm(P[l] h / sqrt(embedding)) + table[token][l] * sqrt(size)) / sqrt(2)
 *
 * and after its feed-forward block the layer adds norm(proj(gelu(gate(x)) * input[l])) to the
 * stream x. Called on the workspace's thread. */
#ifndef ENGINE_LAYER_INPUTS_H
#define ENGINE_LAYER_INPUTS_H

#include "engine/forward/forward_step.h"

/* Computes the inputs of all layers from the embeddings, which are in workspace->hidden. Only for
 * models that have them. */
void layer_inputs_prepare(struct batch *batch);

/* Adds the input of batch->layer, if it has one, and multiplies the stream with the layer's output
 * scale, if it has one. */
void layer_inputs_run(struct batch *batch);

#endif
