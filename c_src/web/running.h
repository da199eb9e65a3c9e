/* running.h - turns a script into a running handle: options, target, compiling, enabling. A trace's
 * thread does this before it begins; a check does it without a node. */
#ifndef ET_WEB_RUNNING_H
#define ET_WEB_RUNNING_H

#include "web/marks.h"
#include "web/message.h"
#include "web/web.h"

/* Returns a handle whose diagnostics go to the list, with the server's options, then restricted
 * (see erltrace_restrict; with -w, destructive is set first), then with the message's options.
 * NULL: the list says why. */
erltrace_t *run_open(const struct web_config *config, const struct message *m, int flags,
                     struct diag_list *diags);
/* Gives a handle the means to reach nodes; returns false if the handle has an error. */
bool run_set_access(const struct web_config *config, erltrace_t *h);
/* Returns the process of the node that a page's name refers to, which scripts of the kernel need;
 * 0: it may be on another host or in a container, several processes bear the name, or pages may not
 * trace the kernel. */
pid_t run_process(const struct web_config *config, erltrace_t *h, const char *node);
/* Sets the target that the page has named. Returns false: the list says why. */
bool run_target(const struct web_config *config, erltrace_t *h, const char *node,
                struct diag_list *diags);
/* Compiles the script. Returns false: the list says why. */
bool run_compile(erltrace_t *h, const struct message *m, struct diag_list *diags);
/* Matches and sets probes: everything except go. */
bool run_enable(const struct web_config *config, erltrace_t *h, struct diag_list *diags);

#endif
