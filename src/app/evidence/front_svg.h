/* A picture of the plans that pareto_find tried: cost a question to the right, quality upward, the
 * waiting time as the size of the dot; those that no other beats are joined. SVG 1.1, no scripts,
 * no fonts of its own. */
#ifndef APP_FRONT_SVG_H
#define APP_FRONT_SVG_H

#include "base/buf.h"
#include "router/learn/pareto.h"

void front_svg_write(const struct pareto *pareto, struct buf *out);

#endif
