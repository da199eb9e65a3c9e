/* libdir.c - the only place that knows the PREFIX: made once more for each that `make install` is
 * given. */
#include "session/handle.h"

const char *api_libdir(void)
{
    return ET_LIBDIR;
}
