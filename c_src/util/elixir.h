/* elixir.h - names of Elixir: the module MyApp.Foo is the atom 'Elixir.MyApp.Foo' in the VM. */
#ifndef ET_UTIL_ELIXIR_H
#define ET_UTIL_ELIXIR_H

#include <stdbool.h>
#include <stddef.h>

#include "base/buf.h"

#define ELIXIR_PREFIX "Elixir."

/* Returns what follows the prefix in a module's name, "MyApp.Foo" of "Elixir.MyApp.Foo"; NULL
 * without the prefix. */
const char *elixir_alias(const char *mod);

/* Returns how many bytes of s name a module as Elixir writes it, if a dot and a function follow:
 * "MyApp.Foo" in "MyApp.Foo.bar/1". Wildcards are allowed. 0: s is not such a function. */
size_t elixir_module_len(const char *s);

/* Returns whether all of s[0..n) is an alias: "MyApp.Foo", "Enum". */
bool elixir_is_alias(const char *s, size_t n);

/* Returns the function of Erlang, "erlang:integer_to_binary/1", by which Elixir's compiler replaces
 * calls of a function of its library, to_string/1 of Elixir.Integer; NULL: of that it compiles
 * calls. func: with the arity. */
const char *elixir_inlined(const char *mod, const char *func);

/* Likewise for names as a description has them: the module with or without the prefix, the function
 * perhaps without the arity; *full is the function with it. */
const char *elixir_inlined_as_written(const char *mod, const char *func, const char **full);

/* Returns whether elixir_put would change the text. */
bool elixir_has(const char *s, size_t n);

/* Appends a text with its modules as Elixir writes them: removes the prefix wherever a name begins
 * with it, together with the quotes of an atom that Elixir does not quote. */
void elixir_put(struct buf *out, const char *s, size_t n);

#endif
