/* elixir.h - names of Elixir: the VM has the module MyApp.Foo as the atom 'Elixir.MyApp.Foo'. */
#ifndef ET_UTIL_ELIXIR_H
#define ET_UTIL_ELIXIR_H

#include <stdbool.h>
#include <stddef.h>

#include "base/buf.h"

#define ELIXIR_PREFIX "Elixir."

/* What follows the prefix in a module's name, "MyApp.Foo" of "Elixir.MyApp.Foo"; NULL: it has none.
 */
const char *elixir_alias(const char *mod);

/* Bytes of s that name a module as Elixir writes it, when a dot and a function follow:
 * "MyApp.Foo" in "MyApp.Foo.bar/1". Wildcards may stand in it. 0: s is no such function. */
size_t elixir_module_len(const char *s);

/* Whether s[0..n) is an alias, with nothing behind it: "MyApp.Foo", "Enum". */
bool elixir_is_alias(const char *s, size_t n);

/* Whether elixir_put would change the text. */
bool elixir_has(const char *s, size_t n);

/* Appends a text with its modules as Elixir writes them: the prefix goes wherever a name begins
 * with it, and with it the quotes of an atom that Elixir does not quote. */
void elixir_put(struct buf *out, const char *s, size_t n);

#endif
