/* lists.h - what can be traced in a node, for completion: probes, modules, functions. */
#ifndef ET_WEB_LISTS_H
#define ET_WEB_LISTS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"
#include "web/marks.h"
#include "web/message.h"
#include "web/web.h"

enum lists_what { LISTS_PROBES, LISTS_MODULES, LISTS_FUNCTIONS, LISTS_PROVIDERS, LISTS_KINDS };

struct lists;

/* Queries the node, and if pages may trace it the kernel; takes seconds if there are many
 * functions. NULL: `diags` says why. */
struct lists *lists_make(const struct web_config *config, const char *node,
                         struct diag_list *diags);
void lists_free(struct lists *c);
/* Writes {"items":[...],"more":...}: the items that start with the prefix, at most `limit`.
 * provider: of probes, "": of all that have not hundreds; of modules and functions, "": the node's.
 * module: the module of functions of a node. */
void lists_list(const struct lists *c, enum lists_what what, const char *provider,
                const char *module, const char *prefix, size_t limit, struct buf *out);

/* Compiles the script of a check and matches its descriptions against the lists, without asking the
 * node. Writes "matches":[{"line":,"column":,"length":,"name":,"probes":,"functions":,"modules":},
 * ...],"functions":,"modules":: what each description matches, and all that the node has. */
void lists_match(const struct lists *c, const struct web_config *config, const struct message *m,
                 struct diag_list *diags, struct buf *out);

/* Examines the node, and writes {"findings":[{"subject":,"level":,"text":,"help":},...]}: what
 * `erltrace doctor` reports of it, and whether this server hides terms. Takes up to seconds. False:
 * `diags` says why. */
bool lists_about(const struct web_config *config, const char *node, struct diag_list *diags,
                 struct buf *out);

#endif
