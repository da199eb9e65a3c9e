/* elixir.c - see elixir.h. */
#include "util/elixir.h"

#include <string.h>

enum { PREFIX_LEN = sizeof ELIXIR_PREFIX - 1 };

static bool is_capital(char c)
{
    return c >= 'A' && c <= 'Z';
}

static bool is_name(char c)
{
    return is_capital(c) || (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_';
}

const char *elixir_alias(const char *mod)
{
    bool has = strncmp(mod, ELIXIR_PREFIX, PREFIX_LEN) == 0 && mod[PREFIX_LEN] != '\0';
    return has ? mod + PREFIX_LEN : NULL;
}

/* Returns the length in bytes of the part of an alias that s begins with, wildcards included; 0:
 * none. */
static size_t segment(const char *s)
{
    size_t n = 1;
    if (!is_capital(s[0]) && !(s[0] == '*' && s[1] == '.' && is_name(s[2])))
        return 0;
    while (is_name(s[n]) || (s[n] != '\0' && strchr("*?[]", s[n])))
        n++;
    return n;
}

size_t elixir_module_len(const char *s)
{
    const char *p = s;
    size_t n;
    if (!is_capital(s[0]))
        return 0;
    while ((n = segment(p)) > 0 && p[n] == '.')
        p += n + 1;
    return p > s && *p != '\0' && p[n] != '\0' ? (size_t)(p - s) - 1 : 0;
}

bool elixir_is_alias(const char *s, size_t n)
{
    bool start = true; /* of a segment */
    for (size_t i = 0; i < n; i++) {
        if (start ? !is_capital(s[i]) : !is_name(s[i]) && s[i] != '.')
            return false;
        start = s[i] == '.';
    }
    return n > 0 && !start;
}

/* Returns the next place where a name begins with the prefix and continues as an alias; NULL: none.
 */
static const char *next_name(const char *from, const char *s, const char *end)
{
    const char *p = from;
    while (end - p > PREFIX_LEN &&
           (p = memmem(p, (size_t)(end - p), ELIXIR_PREFIX, PREFIX_LEN)) != NULL) {
        bool begins = p == s || (!is_name(p[-1]) && p[-1] != '.' && p[-1] != '@' &&
                                 ((unsigned char)p[-1] & 0x80) == 0);
        if (begins && end - p > PREFIX_LEN && is_capital(p[PREFIX_LEN]))
            return p;
        p += PREFIX_LEN;
    }
    return NULL;
}

bool elixir_has(const char *s, size_t n)
{
    return n > PREFIX_LEN && next_name(s, s, s + n) != NULL;
}

void elixir_put(struct buf *out, const char *s, size_t n)
{
    const char *p = s, *end = s + n, *name;
    while ((name = next_name(p, s, end)) != NULL) {
        const char *alias = name + PREFIX_LEN, *behind = alias;
        while (behind < end && (is_name(*behind) || *behind == '.'))
            behind++;
        bool quoted = name > p && name[-1] == '\'' && behind < end && *behind == '\'';
        buf_add(out, p, (size_t)(name - p) - quoted);
        buf_add(out, alias, (size_t)(behind - alias));
        p = behind + quoted;
    }
    buf_add(out, p, (size_t)(end - p));
}

/* -- functions that the compiler replaces ------------------------------------------------------ */

static const struct {
    const char *mod, *func, *instead;
} inlined[] = {
#define INLINED(mod, func, instead) {mod, func, instead},
#include "util/elixir_inlined.list"
#undef INLINED
};

const char *elixir_inlined(const char *mod, const char *func)
{
    const char *alias = elixir_alias(mod);
    for (size_t i = 0; alias && i < sizeof inlined / sizeof inlined[0]; i++)
        if (strcmp(inlined[i].mod, alias) == 0 && strcmp(inlined[i].func, func) == 0)
            return inlined[i].instead;
    return NULL;
}

const char *elixir_inlined_as_written(const char *mod, const char *func, const char **full)
{
    const char *alias = elixir_alias(mod) ? elixir_alias(mod) : mod;
    size_t len = strlen(func);
    for (size_t i = 0; i < sizeof inlined / sizeof inlined[0]; i++)
        if (strcmp(inlined[i].mod, alias) == 0 && strncmp(inlined[i].func, func, len) == 0 &&
            len > 0 && (inlined[i].func[len] == '\0' || inlined[i].func[len] == '/')) {
            *full = inlined[i].func;
            return inlined[i].instead;
        }
    return NULL;
}
