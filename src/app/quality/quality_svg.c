/* For each candidate a row for all prompts and one for each group: the share of flips and its
 * interval. What stands out is red. */
#include "app/quality/quality_report.h"

#include <math.h>

#define WIDTH 760.0
#define LEFT 300.0
#define RIGHT 40.0
#define ROW 18.0
#define HEAD 34.0
#define TICKS 4

static void put_text(const char *text, struct buf *out)
{
    for (; *text; text++) {
        if (*text == '<')
            buf_printf(out, "&lt;");
        else if (*text == '&')
            buf_printf(out, "&amp;");
        else if ((unsigned char)*text >= ' ') /* XML has no control characters */
            buf_append_char(out, *text);
    }
}

static double x_of(double share, double most)
{
    return LEFT + share / most * (WIDTH - LEFT - RIGHT);
}

static void write_row(const char *kind, const char *name, const struct flips_group *flips,
                      double most, double y, struct buf *out)
{
    double share = (double)flips->flips / (double)flips->count;
    const char *colour = flips->stands_out ? "#b2182b" : "#2166ac";
    buf_printf(out, "<text x=\"%.1f\" y=\"%.1f\" text-anchor=\"end\" fill=\"%s\">%s", LEFT - 12,
               y + 4, flips->stands_out ? colour : "#000", kind);
    put_text(name, out);
    buf_printf(out,
               "</text>\n<line x1=\"%.1f\" y1=\"%.1f\" x2=\"%.1f\" y2=\"%.1f\" stroke=\"%s\" "
               "stroke-width=\"2\"/>\n<circle cx=\"%.1f\" cy=\"%.1f\" r=\"4\" fill=\"%s\">"
               "<title>%zu of %zu, %.1f %% [%.1f, %.1f]</title></circle>\n",
               x_of(flips->low, most), y, x_of(flips->high, most), y, colour, x_of(share, most), y,
               colour, flips->flips, flips->count, 100 * share, 100 * flips->low,
               100 * flips->high);
}

static void write_axis(double most, double top, double bottom, struct buf *out)
{
    for (int i = 0; i <= TICKS; i++) {
        double x = x_of(most * i / TICKS, most);
        buf_printf(out,
                   "<line x1=\"%.1f\" y1=\"%.1f\" x2=\"%.1f\" y2=\"%.1f\" stroke=\"#ddd\"/>\n"
                   "<text x=\"%.1f\" y=\"%.1f\" text-anchor=\"middle\">%.3g %%</text>\n",
                   x, top, x, bottom, x, bottom + 16, 100 * most * i / TICKS);
    }
}

/* The largest upper end, as a round share. */
static double axis_end(const struct quality *quality)
{
    double most = 0.05;
    for (size_t i = 1; i < quality->model_count; i++) {
        most = fmax(most, quality->models[i].flips.high);
        for (size_t g = 0; g < quality->group_count; g++)
            most = fmax(most, quality->models[i].scores[g].flips.high);
    }
    return fmin(1, ceil(most * 20) / 20);
}

static double write_candidate(const struct quality *quality, const struct quality_model *model,
                              double most, double y, struct buf *out)
{
    double bottom = y + HEAD + ROW * (double)(quality->group_count + 1);
    buf_printf(out, "<text x=\"12\" y=\"%.1f\" font-weight=\"bold\">", y + 18);
    put_text(model->name, out);
    buf_printf(out, "</text>\n");
    write_axis(most, y + HEAD - 8, bottom, out);
    write_row("all prompts", "", &model->flips, most, y + HEAD, out);
    for (size_t g = 0; g < quality->group_count; g++)
        write_row(quality->groups[g].is_task ? "task " : "cluster ", quality->groups[g].name,
                  &model->scores[g].flips, most, y + HEAD + ROW * (double)(g + 1), out);
    return bottom + HEAD;
}

void quality_svg_write(const struct quality *quality, struct buf *out)
{
    double most = axis_end(quality), y = HEAD;
    double each = 2 * HEAD + ROW * (double)(quality->group_count + 1);
    buf_printf(out,
               "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 %.0f %.0f\" "
               "font-family=\"sans-serif\" font-size=\"12\">\n<rect width=\"100%%\" "
               "height=\"100%%\" fill=\"#fff\"/>\n<text x=\"12\" y=\"20\" font-size=\"14\">"
               "Share of prompts with another answer than the reference's, with intervals at 95 %%"
               "</text>\n",
               WIDTH, HEAD + each * (double)(quality->model_count - 1));
    for (size_t i = 1; i < quality->model_count; i++)
        y = write_candidate(quality, &quality->models[i], most, y, out);
    buf_printf(out, "</svg>\n");
}
