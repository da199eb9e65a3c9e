/* isoc23.c - names of glibc 2.38 and later that a libei which was built with it asks for: for unit
 * tests that are linked with an older C library (mk/arm64.mk). */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

__attribute__((weak)) long __isoc23_strtol(const char *text, char **end, int base)
{
    return strtol(text, end, base);
}

__attribute__((weak)) int __isoc23_sscanf(const char *text, const char *format, ...)
{
    va_list ap;
    va_start(ap, format);
    int n = vsscanf(text, format, ap);
    va_end(ap);
    return n;
}
