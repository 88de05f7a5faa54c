/* Writes SVG by hand: axes with round steps, a dot for each plan, and a line through those that
 * no other plan beats. */
#include "app/evidence/front_svg.h"

#include <math.h>

#define WIDTH 760.0
#define HEIGHT 480.0
#define LEFT 70.0
#define RIGHT 150.0
#define TOP 30.0
#define BOTTOM 60.0
#define TICKS 5

struct scale {
    double low, high, from, to;
};

static double at(const struct scale *scale, double value)
{
    return scale->from +
           (value - scale->low) / (scale->high - scale->low) * (scale->to - scale->from);
}

static struct scale scale_of(const struct pareto *pareto, bool cost)
{
    struct scale scale = {INFINITY, -INFINITY, cost ? LEFT : HEIGHT - BOTTOM,
                          cost ? WIDTH - RIGHT : TOP};
    for (size_t i = 0; i < pareto->count; i++) {
        double value = cost ? pareto->plans[i].cost_usd : pareto->plans[i].right;
        scale.low = fmin(scale.low, value);
        scale.high = fmax(scale.high, value);
    }
    double wide = scale.high - scale.low;
    double edge = wide > 0 ? 0.04 * wide : fmax(fabs(scale.high), 1e-9) * 0.1;
    scale.low -= edge;
    scale.high += edge;
    return scale;
}

static const char *colour_of(enum pareto_pattern pattern)
{
    static const char *const colours[PARETO_PATTERN_COUNT] = {
        [PARETO_LOCAL] = "#1b7837", [PARETO_CLOUD] = "#2166ac", [PARETO_G0] = "#b2182b",
        [PARETO_G1] = "#8073ac",    [PARETO_G3] = "#e08214",    [PARETO_G0_G3] = "#4d4d4d"};
    return colours[pattern];
}

static void write_axes(const struct scale *x, const struct scale *y, struct buf *out)
{
    for (int i = 0; i <= TICKS; i++) {
        double cost = x->low + (x->high - x->low) * i / TICKS;
        double right = y->low + (y->high - y->low) * i / TICKS;
        buf_printf(out,
                   "<line x1=\"%.1f\" y1=\"%.1f\" x2=\"%.1f\" y2=\"%.1f\" stroke=\"#ddd\"/>\n"
                   "<text x=\"%.1f\" y=\"%.1f\" text-anchor=\"middle\">%.4g</text>\n",
                   at(x, cost), TOP, at(x, cost), HEIGHT - BOTTOM, at(x, cost),
                   HEIGHT - BOTTOM + 18, 1000 * cost);
        buf_printf(out,
                   "<line x1=\"%.1f\" y1=\"%.1f\" x2=\"%.1f\" y2=\"%.1f\" stroke=\"#ddd\"/>\n"
                   "<text x=\"%.1f\" y=\"%.1f\" text-anchor=\"end\">%.3f</text>\n",
                   LEFT, at(y, right), WIDTH - RIGHT, at(y, right), LEFT - 8, at(y, right) + 4,
                   right);
    }
    buf_printf(
        out,
        "<text x=\"%.1f\" y=\"%.1f\" text-anchor=\"middle\">cost of 1000 questions, "
        "USD</text>\n<text x=\"16\" y=\"%.1f\" text-anchor=\"middle\" transform=\"rotate(-90 "
        "16 %.1f)\">share right</text>\n",
        (LEFT + WIDTH - RIGHT) / 2, HEIGHT - 16, (TOP + HEIGHT - BOTTOM) / 2,
        (TOP + HEIGHT - BOTTOM) / 2);
}

/* The best plans by cost, joined. */
static void write_front(const struct pareto *pareto, const struct scale *x, const struct scale *y,
                        struct buf *out)
{
    double before = -INFINITY, top = -INFINITY;
    buf_printf(out, "<polyline fill=\"none\" stroke=\"#999\" stroke-dasharray=\"4 3\" points=\"");
    for (;;) {
        const struct pareto_plan *next = NULL;
        for (size_t i = 0; i < pareto->count; i++) {
            const struct pareto_plan *plan = &pareto->plans[i];
            if (plan->right > top && plan->cost_usd > before &&
                (!next || plan->cost_usd < next->cost_usd ||
                 (!(plan->cost_usd > next->cost_usd) && plan->right > next->right)))
                next = plan;
        }
        if (!next)
            break;
        buf_printf(out, "%.1f,%.1f ", at(x, next->cost_usd), at(y, next->right));
        before = next->cost_usd;
        top = next->right;
    }
    buf_printf(out, "\"/>\n");
}

static void write_plans(const struct pareto *pareto, const struct scale *x, const struct scale *y,
                        struct buf *out)
{
    double slowest = 1e-9;
    for (size_t i = 0; i < pareto->count; i++)
        slowest = fmax(slowest, pareto->plans[i].ms);
    for (size_t i = 0; i < pareto->count; i++) {
        const struct pareto_plan *plan = &pareto->plans[i];
        buf_printf(out,
                   "<circle cx=\"%.1f\" cy=\"%.1f\" r=\"%.1f\" fill=\"%s\" fill-opacity=\"%s\" "
                   "stroke=\"%s\"><title>%s: %.1f %% local, right %.3f, %.6f USD, %.0f ms</title>"
                   "</circle>\n",
                   at(x, plan->cost_usd), at(y, plan->right), 3 + 7 * sqrt(plan->ms / slowest),
                   colour_of(plan->pattern), plan->best ? "0.75" : "0.12", colour_of(plan->pattern),
                   pareto_pattern_name(plan->pattern), 100 * plan->share_local, plan->right,
                   plan->cost_usd, plan->ms);
    }
}

static void write_legend(struct buf *out)
{
    for (int pattern = 0; pattern < PARETO_PATTERN_COUNT; pattern++)
        buf_printf(out,
                   "<circle cx=\"%.1f\" cy=\"%.1f\" r=\"5\" fill=\"%s\"/><text x=\"%.1f\" "
                   "y=\"%.1f\">%s</text>\n",
                   WIDTH - RIGHT + 20, TOP + 12 + 20.0 * pattern,
                   colour_of((enum pareto_pattern)pattern), WIDTH - RIGHT + 32,
                   TOP + 16 + 20.0 * pattern, pareto_pattern_name((enum pareto_pattern)pattern));
    buf_printf(out,
               "<text x=\"%.1f\" y=\"%.1f\">full: no plan is</text><text x=\"%.1f\" "
               "y=\"%.1f\">better in all;</text><text x=\"%.1f\" y=\"%.1f\">large: slow</text>\n",
               WIDTH - RIGHT + 14, TOP + 152, WIDTH - RIGHT + 14, TOP + 168, WIDTH - RIGHT + 14,
               TOP + 184);
}

void front_svg_write(const struct pareto *pareto, struct buf *out)
{
    struct scale x = scale_of(pareto, true), y = scale_of(pareto, false);
    buf_printf(out,
               "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 %.0f %.0f\" "
               "font-family=\"sans-serif\" font-size=\"12\">\n<rect width=\"100%%\" "
               "height=\"100%%\" fill=\"#fff\"/>\n",
               WIDTH, HEIGHT);
    write_axes(&x, &y, out);
    write_front(pareto, &x, &y, out);
    write_plans(pareto, &x, &y, out);
    write_legend(out);
    buf_printf(out, "</svg>\n");
}
