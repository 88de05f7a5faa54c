/* An evaluation as tables of at most 80 columns, as JSON and as a picture. */
#ifndef APP_QUALITY_REPORT_H
#define APP_QUALITY_REPORT_H

#include "app/quality/quality_gate.h"
#include "base/bytes/buf.h"

/* verdicts: [model_count], the first is not used; NULL = there was no gate. */
void quality_report_text(const struct quality *quality, const struct quality_verdict *verdicts,
                         struct buf *out);
/* **returns new** */
struct json *quality_report_json(const struct quality *quality,
                                 const struct quality_verdict *verdicts);
/* Shares of flips with their intervals, candidate by candidate; quality_svg.c. SVG 1.1, without
 * scripts and fonts. */
void quality_svg_write(const struct quality *quality, struct buf *out);

#endif
