/* secret.c - see secret.h. */
#include "util/secret.h"

#include <stdlib.h>
#include <string.h>

char *secret_argument(struct arena *a, char *value)
{
    char *copy = arena_strdup(a, value);
    explicit_bzero(value, strlen(value));
    return copy;
}

char *secret_variable(struct arena *a, const char *name)
{
    char *value = getenv(name), *copy = NULL;
    if (value != NULL && value[0] != '\0')
        copy = secret_argument(a, value);
    unsetenv(name);
    return copy;
}
