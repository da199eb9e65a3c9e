/* part.c - matches the parts of a probe description that are more than a glob. */
#include <stdio.h>
#include <string.h>

#include "base/glob.h"
#include "probe/probe.h"

bool probe_glob_provider(const char *pattern, const char *provider)
{
    size_t n = strlen("erlang");
    if (strcmp(pattern, "erlang") == 0 && strncmp(provider, pattern, n) == 0)
        return provider[n] == '\0' || strspn(provider + n, "0123456789") == strlen(provider + n);
    return glob_match(pattern, provider);
}

bool probe_means_provider(const char *pattern, const char *name)
{
    char one[PROBE_NAME_MAX + 2];
    size_t n = strlen(name);
    if (n > PROBE_NAME_MAX)
        return false;
    memcpy(one, name, n);
    memcpy(one + n, "1", 2);
    return glob_match(pattern, name) || glob_match(pattern, one) ||
           (strncmp(pattern, name, n) == 0 &&
            strspn(pattern + n, "0123456789") == strlen(pattern + n));
}

bool probe_glob_function(const char *pattern, const char *name, unsigned arity)
{
    char full[512];
    if (strchr(pattern, '/') == NULL)
        return glob_match(pattern, name);
    int n = snprintf(full, sizeof full, "%s/%u", name, arity);
    return n > 0 && (size_t)n < sizeof full && glob_match(pattern, full);
}
