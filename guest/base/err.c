/* err.c - texts of the error codes. */
#include "base/err.h"

const char *et_strerror(int err)
{
    switch (err) {
    case ET_OK: return "no error";
#define X(name, text)                                                                              \
    case ET_##name: return text;
        ET_ERRORS(X)
#undef X
    default: return "unknown error";
    }
}
