/* Draws the plans that pareto_find tried. Cost a question goes to the right, quality upward, and
 * the size of a dot is the waiting time. A line joins the plans that no other plan beats. SVG 1.1,
 * without scripts and fonts. */
#ifndef APP_FRONT_SVG_H
#define APP_FRONT_SVG_H

#include "base/bytes/buf.h"
#include "router/learn/pareto.h"

void front_svg_write(const struct pareto *pareto, struct buf *out);

#endif
