/* libdir.c - the only place that knows the PREFIX. It is compiled again for each PREFIX that `make
 * install` is given. */
#include "session/handle.h"

const char *api_libdir(void)
{
    return ET_LIBDIR;
}
