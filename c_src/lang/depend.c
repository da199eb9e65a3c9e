/* depend.c - finds a text's dependencies without compiling it, so that D libraries can be ordered;
 * and the names that a text can depend on.
 *
 * Control lines are found as the scanner finds them: a '#' preceded only by blanks on its line,
 * outside comments and strings. */
#include <string.h>

#include "lang/lang.h"

static bool is_blank(char c)
{
    return c == ' ' || (c >= '\t' && c <= '\r');
}

static const char *word(const char *s, const char *end, const char **start)
{
    while (s < end && is_blank(*s))
        s++;
    *start = s;
    while (s < end && !is_blank(*s))
        s++;
    return s;
}

/* Reads the line s..end, which follows its '#'. */
static bool depends(const char *s, const char *end, struct lang_depend *d)
{
    static const char *const words[] = {"pragma", "D", "depends_on"};
    const char *start;
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++) {
        s = word(s, end, &start);
        if ((size_t)(s - start) != strlen(words[i]) ||
            memcmp(start, words[i], (size_t)(s - start)) != 0)
            return false;
    }
    s = word(s, end, &d->kind);
    d->kind_len = (size_t)(s - d->kind);
    s = word(s, end, &d->name);
    d->name_len = (size_t)(s - d->name);
    return d->name_len > 0;
}

bool lang_depends(const char *text, size_t len, size_t *at, int *line, struct lang_depend *out)
{
    const char *s = text + *at, *end = text + len;
    bool fresh = *at == 0 || s[-1] == '\n';
    while (s < end) {
        if (*s == '\n') {
            (*line)++;
            fresh = true;
            s++;
        } else if (is_blank(*s)) {
            s++;
        } else if (*s == '#' && fresh) {
            const char *nl = memchr(s, '\n', (size_t)(end - s));
            const char *stop = nl ? nl : end;
            bool found = depends(s + 1, stop, out);
            out->line = *line;
            s = stop;
            if (found) {
                *at = (size_t)(s - text);
                return true;
            }
        } else if (*s == '/' && s + 1 < end && s[1] == '*') {
            for (s += 2; s < end && !(*s == '*' && s + 1 < end && s[1] == '/'); s++)
                *line += *s == '\n';
            s += s < end ? 2 : 0;
        } else if (*s == '"') {
            for (s++; s < end && *s != '"' && *s != '\n'; s++)
                s += *s == '\\' && s + 1 < end && s[1] != '\n';
            s += s < end && *s == '"';
            fresh = false;
        } else {
            fresh = false;
            s++;
        }
    }
    *at = len;
    return false;
}

bool lang_has(const char *kind, size_t kind_len, const char *name, size_t name_len)
{
    static const struct {
        const char *name;
        bool more; /* a suffix may follow the name */
    } providers[] = {{"dtrace", false}, {"profile", false}, {"erlang", true}};
    if (kind_len != strlen("provider") || memcmp(kind, "provider", kind_len) != 0)
        return false; /* there are no kernel modules here */
    for (size_t i = 0; i < sizeof providers / sizeof providers[0]; i++) {
        size_t n = strlen(providers[i].name);
        if (name_len >= n && (providers[i].more || name_len == n) &&
            memcmp(name, providers[i].name, n) == 0)
            return true;
    }
    return false;
}
