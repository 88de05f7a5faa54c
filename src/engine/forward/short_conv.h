/* Gated short convolutions, which some layers have instead of attention (Liquid AI 2025, LFM2
 * technical report, section 2). Of B, C and x, three products of the layer's input, and a kernel w
 * of `width` positions:
 *
 *   u = B * x, element by element
 *   y[c] = C[c] * sum over j of w[c, j] u[c] at the position (own - (width - 1) + j)
 *
 * and the layer adds W y. C, B and x stand in the workspace as query, key and value, y as what was
 * attended. u of each position stays in the page that has its keys. So a text may be cut anywhere,
 * shared and saved as if all layers had attention. It takes [embedding] elements for a position of
 * each such layer. A state of the last positions alone would be smaller, but after rejected tokens,
 * shared beginnings and edits of a text it would have to be computed again. Called on the
 * workspace's thread. */
#ifndef ENGINE_SHORT_CONV_H
#define ENGINE_SHORT_CONV_H

#include "engine/forward/forward_step.h"

/* Stores u of a run of rows (workspace->attention.runs). */
void short_conv_store_item(struct step *step, uint32_t index);
/* Computes workspace->attended of all rows, whose u must be stored. */
void short_conv_run(struct batch *batch);

#endif
