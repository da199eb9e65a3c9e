/* ready.h - the ready scripts as the page lists them: GET /api/scripts.
 *
 * Everything comes from the script's own first comment: "NAME.d ARGUMENT... - title.", a blank
 * line, the command line, a blank line, what it shows. A line "page: view=list place=list
 * MODULE=lists" in it holds what only a page needs: the view that suits the script, whether
 * /heatmap or /list opens with it, and the initial value of an argument. */
#ifndef ET_WEB_READY_H
#define ET_WEB_READY_H

#include <stdbool.h>

#include "base/buf.h"

/* Writes {"scripts":[...]}. kernel: with those for the kernel, and for a node and the kernel. */
void scripts_list(bool kernel, struct buf *out);

#endif
