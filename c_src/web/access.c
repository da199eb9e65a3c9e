/* access.c - see access.h. */
#include "web/access.h"

#include <arpa/inet.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>
#include <sys/random.h>

static const char *const schemes[] = {"http://", "https://"};

int access_secret(char out[ACCESS_SECRET])
{
    uint8_t bytes[(ACCESS_SECRET - 1) / 2];
    if (getrandom(bytes, sizeof bytes, 0) != (ssize_t)sizeof bytes)
        return -1;
    for (size_t i = 0; i < sizeof bytes; i++)
        snprintf(out + 2 * i, 3, "%02x", bytes[i]);
    return 0;
}

bool access_same(const char *secret, const char *given)
{
    size_t n = strlen(secret), m = strlen(given);
    unsigned differ = n != m;
    for (size_t i = 0; i < n; i++)
        differ |= (unsigned char)secret[i] ^ (unsigned char)(i < m ? given[i] : 0);
    return differ == 0;
}

bool access_offers(const char *list, const char *prefix, const char *rest)
{
    static const char between[] = ", \t";
    size_t n = strlen(prefix);
    bool found = false;
    for (const char *p = list; *(p += strspn(p, between)) != '\0';) {
        size_t len = strcspn(p, between);
        char value[ACCESS_SECRET + 1];
        if (len >= n && memcmp(p, prefix, n) == 0 && len - n < sizeof value) {
            snprintf(value, sizeof value, "%.*s", (int)(len - n), p + n);
            found |= access_same(rest, value);
        }
        p += len;
    }
    return found;
}

/* Writes the name of "name:port" or "[address]:port", without the brackets; returns false if the
 * text has neither form. */
static bool name_of(const char *host, char *out, size_t size)
{
    const char *from = host, *end;
    if (*host == '[') {
        from = host + 1;
        if ((end = strchr(from, ']')) == NULL || (end[1] != '\0' && end[1] != ':'))
            return false;
    } else {
        end = from + strcspn(from, ":");
    }
    const char *port = *end == ']' ? end + 1 : end;
    if (*port == ':' && strspn(port + 1, "0123456789") != strlen(port + 1))
        return false;
    size_t n = (size_t)(end - from);
    if (n == 0 || n >= size)
        return false;
    memcpy(out, from, n);
    out[n] = '\0';
    return true;
}

/* Skips the scheme, if there is one. */
static const char *authority(const char *name)
{
    for (size_t i = 0; i < sizeof schemes / sizeof *schemes; i++)
        if (strncmp(name, schemes[i], strlen(schemes[i])) == 0)
            return name + strlen(schemes[i]);
    return name;
}

bool access_is_name(const char *name)
{
    char host[256];
    const char *rest = authority(name);
    return rest[strcspn(rest, "/?#@ ")] == '\0' && name_of(rest, host, sizeof host) &&
           (rest != name || strchr(rest, ':') == NULL);
}

/* Returns whether a Host header's name is one of the names that start with the scheme. */
static bool is_known(const char *name, const char *scheme, const char *const *names, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        char known[256];
        if (strncmp(names[i], scheme, strlen(scheme)) == 0 &&
            name_of(authority(names[i]), known, sizeof known) && strcasecmp(name, known) == 0)
            return true;
    }
    return false;
}

bool access_host(const char *header, const char *const *names, size_t n)
{
    char name[256];
    unsigned char address[16];
    if (!name_of(header, name, sizeof name))
        return false;
    return inet_pton(AF_INET, name, address) == 1 || inet_pton(AF_INET6, name, address) == 1 ||
           strcasecmp(name, "localhost") == 0 || is_known(name, "", names, n);
}

bool access_is_proxy(const char *name)
{
    return authority(name) != name;
}

bool access_origin(const char *header, const char *host, bool tls, const char *const *names,
                   size_t n)
{
    const char *scheme = schemes[tls];
    size_t len = strlen(scheme);
    if (strncmp(header, scheme, len) == 0 && strcasecmp(header + len, host) == 0)
        return true;
    for (size_t i = 0; i < n; i++)
        if (authority(names[i]) != names[i] && strcasecmp(header, names[i]) == 0)
            return true;
    return false;
}
