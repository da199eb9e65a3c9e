/* bars.h - aggregations as drawings: values beside bars (agghist), histograms of one line
 * (aggpack). doc/output.md has the layouts. */
#ifndef ET_RESULT_BARS_H
#define ET_RESULT_BARS_H

#include <stdbool.h>

#include "base/buf.h"
#include "result/aggr.h"
#include "result/report.h"

/* Returns whether the options ask for a drawing of the view. */
bool bars_want(const struct report *r, const struct aggr_view *v);
/* Appends header and rows; nothing for a view without rows. */
void bars_rows(struct report *r, const struct aggr_view *v, struct buf *out);

#endif
