/* render.h - the tool's additions to diagnostics (base/diag.h): warnings, the source texts that
 * they point into, rendering, and name suggestions.
 *
 *   erltrace: latency.d:3:12: error: [D_IDENT_UNDEF] unknown identifier 'timestmp'
 *       3 |   sent[timestmp] = 1;
 *         |        ^~~~~~~~  did you mean 'timestamp'?
 *
 * A diagnostic without a position (file NULL) renders as its first line only, with its hint on a
 * separate line. The guest's diagnostics have no position; the tool that placed the program renders
 * them. */
#ifndef ET_UTIL_RENDER_H
#define ET_UTIL_RENDER_H

#include "base/buf.h"
#include "base/diag.h"

/* Registers a source, so that its lines can be shown. The text is borrowed. */
void diags_source(struct diags *d, const char *file, const char *text, size_t len);
/* Discards the diagnostics but keeps the sources. */
void diags_clear(struct diags *d);

/* Adds a diagnostic of any severity; pos, tag and hint may be NULL. */
void diag_add(struct diags *d, enum diag_severity sev, const struct diag_pos *pos, const char *tag,
              const char *hint, const char *fmt, ...) __attribute__((format(printf, 6, 7)));

/* Renders one diagnostic as above, each line ending in newline. */
void diag_render(const struct diags *d, const struct diag *g, struct buf *out);
/* Renders one as a JSON object on one line:
 * {"type":"error","severity":"error","tag":...,"file":...,"line":...,"column":...,"text":...,"hint":...}
 */
void diag_render_json(const struct diag *g, struct buf *out);

/* Returns the source line that a diagnostic is about, without its end: *len bytes; NULL when it is
 * not known. */
const char *diag_line(const struct diags *d, const struct diag *g, size_t *len);

/* Returns the candidate nearest to `name` by edit distance, for "did you mean"; NULL when none is
 * near enough (at most a third of the letters differ, ignoring case). */
const char *diag_nearest(const char *name, const char *const *candidates, size_t n);

#endif
