/* hist.h - histograms: which rows of quantize, lquantize and llquantize are shown, and their
 * layout.
 *
 * Rows go from the bucket before the first non-zero one to the bucket after the last; if all are
 * zero, there are three rows about zero (language.md 7.4). Text and JSON are made from the same
 * rows. */
#ifndef ET_RESULT_HIST_H
#define ET_RESULT_HIST_H

#include "base/buf.h"
#include "dif/dif.h"

struct hist_row {
    char label[32];   /* as printed, without blanks */
    int64_t count;    /* the range of integers in the bucket, inclusive */
    int64_t from, to; /* the integers that fall into it, both ends included */
    bool open_from;   /* no lower bound: ignore `from` */
    bool open_to;     /* no upper bound: ignore `to` */
    unsigned bucket;  /* index of its word */
};
struct hist {
    struct hist_row *row; /* ascending; et_free */
    size_t n;
};

/* Makes the rows of one value; words: dif_agg_words of them. Returns 0 or ET_ENOMEM. */
int hist_make(const struct dif_agg *def, const uint64_t *words, struct hist *out);
void hist_free(struct hist *h);
/* Returns how many rows hist_make makes. */
size_t hist_nrows(const struct dif_agg *def, const uint64_t *words);
/* Describes a bucket, whatever it holds. Returns false when no value falls into it. */
bool hist_bucket(const struct dif_agg *def, unsigned bucket, struct hist_row *out);
/* Appends the table, from the header's leading newline to the newline of the last row. Counts are
 * divided by normal. zoom: see hist_scale. */
void hist_text(const struct hist *h, uint64_t normal, bool zoom, struct buf *out);

/* The scale of the bars of one drawing: the sum of all counts without their signs, or (zoom) the
 * largest, which then takes 95 of 100. */
__extension__ typedef unsigned __int128 hist_total_t;
struct hist_scale {
    bool zoom;
    bool positive, negative; /* which signs occur */
    hist_total_t total, largest;
};
void hist_scale_add(struct hist_scale *s, int64_t count);
/* Appends a bar of 40 columns and the line it grows from, 41 in all. */
void hist_bar(const struct hist_scale *s, int64_t count, struct buf *out);
/* Returns the sum of label times count, by which histograms are ordered, and the count at zero,
 * which breaks ties. */
__extension__ typedef __int128 hist_weight_t;
hist_weight_t hist_weight(const struct dif_agg *def, const uint64_t *words, int64_t *at_zero);

#endif
