/* ready.h - the ready-made scripts as the page lists them: GET /api/scripts.
 *
 * All is read from the script's own first comment: "NAME.d ARGUMENT... - title.", a blank line, the
 * command line, a blank line, what it shows. A line "page: view=list place=list MODULE=lists" in it
 * says what only a page needs: the view that suits it, whether it is what /heatmap or /list opens
 * with, and what an argument is at first. */
#ifndef ET_WEB_READY_H
#define ET_WEB_READY_H

#include "base/buf.h"

/* {"scripts":[...]} */
void scripts_list(struct buf *out);

#endif
