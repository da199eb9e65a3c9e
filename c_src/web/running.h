/* running.h - how a script becomes a running handle: options, target, compiling, enabling. What the
 * thread of a trace does before it begins, and what a check does without a node. */
#ifndef ET_WEB_RUNNING_H
#define ET_WEB_RUNNING_H

#include "web/marks.h"
#include "web/message.h"
#include "web/web.h"

/* A handle whose diagnostics go to the list, with the server's options, restricted (what
 * erltrace_restrict says; destructive is set before with -w), and with those of the message. NULL:
 * the list says why. */
erltrace_t *run_open(const struct web_config *config, const struct message *m, int flags,
                     struct diag_list *diags);
/* Tells a handle with what nodes are to be reached; false when it has an error. */
bool run_set_access(const struct web_config *config, erltrace_t *h);
/* The target that the page has named: false, and the list says why. */
bool run_target(const struct web_config *config, erltrace_t *h, const char *node,
                struct diag_list *diags);
/* The script; false, and the list says why. */
bool run_compile(erltrace_t *h, const struct message *m, struct diag_list *diags);
/* Matches and sets probes, everything but go. */
bool run_enable(const struct web_config *config, erltrace_t *h, struct diag_list *diags);

#endif
