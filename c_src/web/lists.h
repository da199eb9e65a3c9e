/* lists.h - what there is to be traced in a node, for completion: probes, modules, functions. */
#ifndef ET_WEB_LISTS_H
#define ET_WEB_LISTS_H

#include <stdint.h>

#include "base/buf.h"
#include "web/marks.h"
#include "web/web.h"

enum catalog_what { CATALOG_PROBES, CATALOG_MODULES, CATALOG_FUNCTIONS };

struct catalog;

/* Asks the node; takes seconds where there are many functions. NULL, and the list says why. */
struct catalog *catalog_make(const struct web_config *config, const char *node,
                             struct diag_list *diags);
void catalog_free(struct catalog *c);
/* {"items":[...],"more":...}: those that begin with the prefix, at most `limit`. module: of
 * functions. */
void catalog_list(const struct catalog *c, enum catalog_what what, const char *module,
                  const char *prefix, size_t limit, struct buf *out);

#endif
