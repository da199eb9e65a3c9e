/* check_elixir.c - strings that name modules as Elixir does but are compared with the VM's names.
 *
 * probemod and the texts of functions are values, and hold the VM's names. Only probe descriptions
 * and output omit the prefix. */
#include "lang/check.h"

#include <string.h>

#include "util/elixir.h"
#include "util/render.h"

/* Returns the length in bytes of the module in the text of a function, "MyApp.Foo:bar/1" or
 * "MyApp.Foo.bar/1". */
static size_t module_of_function(const char *s)
{
    const char *colon = strchr(s, ':');
    size_t n = colon ? (size_t)(colon - s) : elixir_module_len(s);
    return strchr(s + n, '/') && elixir_is_alias(s, n) ? n : 0;
}

/* Returns "bar/1" as the VM prints it: "bar/1", "'bar?'/1". */
static const char *quoted(struct lang *l, const char *function)
{
    const char *slash = strrchr(function, '/');
    bool plain = function[0] >= 'a' && function[0] <= 'z';
    for (const char *p = function; p < slash; p++)
        plain = plain && (*p == '_' || *p == '@' || (*p >= '0' && *p <= '9') ||
                          (*p >= 'a' && *p <= 'z') || (*p >= 'A' && *p <= 'Z'));
    return plain ? function : lang_printf(l, "'%.*s'%s", (int)(slash - function), function, slash);
}

void check_elixir_name(struct lang *l, const struct node *text, const struct node *other)
{
    size_t n;
    if (text->kind != N_STR || elixir_alias(text->str))
        return;
    bool module = other->kind == N_BUILTIN && strcmp(other->name, "probemod") == 0;
    n = module ? strlen(text->str) : module_of_function(text->str);
    if (n == 0 || !elixir_is_alias(text->str, n))
        return;
    diag_add(l->diags, DIAG_WARNING, &text->pos, "",
             module ? lang_printf(l, "compare with \"%s%s\"", ELIXIR_PREFIX, text->str)
                    : lang_printf(l, "compare with \"'%s%.*s':%s\"", ELIXIR_PREFIX, (int)n,
                                  text->str, quoted(l, text->str + n + 1)),
             "the string of an Elixir module begins with %s", ELIXIR_PREFIX);
}
