/* glob.c - matching text against a shell glob. */
#include "base/glob.h"

#include <string.h>

/* Returns the letter of ASCII in the other case, c itself for what is none. */
static char other_case(char c)
{
    const bool letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
    return letter ? (char)(c ^ ('a' ^ 'A')) : c;
}

static bool is_within(char lo, char c, char hi)
{
    return (unsigned char)lo <= (unsigned char)c && (unsigned char)c <= (unsigned char)hi;
}

/* Returns whether c is in the set that starts after '[' at *p, and moves *p past the ']'. Returns
 * -1 if the set has no end and so is not a set. `either`: case makes no difference. */
static int set_match(const char **p, char c, bool either)
{
    const char *s = *p, other = either ? other_case(c) : c;
    int negate = *s == '!', hit = 0;
    s += negate;
    for (int first = 1; *s != '\0' && (first || *s != ']'); first = 0) {
        char lo = *s == '\\' && s[1] != '\0' ? *++s : *s, hi = lo;
        s++;
        if (s[0] == '-' && s[1] != '\0' && s[1] != ']') {
            hi = s[1] == '\\' && s[2] != '\0' ? s[2] : s[1];
            s += s[1] == '\\' && s[2] != '\0' ? 3 : 2;
        }
        hit |= is_within(lo, c, hi) || is_within(lo, other, hi);
    }
    if (*s != ']')
        return -1;
    *p = s + 1;
    return hit ^ negate;
}

/* Matches one pattern element (not '*') against c, and advances the pattern. */
static bool element_match(const char **pattern, char c, bool either)
{
    const char *p = *pattern;
    if (*p == '?') {
        *pattern = p + 1;
        return true;
    }
    if (*p == '[') {
        const char *after = p + 1;
        int hit = set_match(&after, c, either);
        if (hit >= 0) {
            *pattern = after;
            return hit == 1;
        }
    }
    if (*p == '\\' && p[1] != '\0')
        p++;
    *pattern = p + 1;
    return *p == c || (either && *p == other_case(c));
}

/* After a mismatch, retries only from the last '*', one character further on: linear in pattern
 * times text. */
static bool match(const char *pattern, const char *text, bool either)
{
    const char *star = NULL, *retry = NULL;
    if (*pattern == '\0')
        return true;
    while (*text != '\0') {
        const char *p = pattern;
        if (*p == '*') {
            star = pattern = p + 1;
            retry = text;
        } else if (*p != '\0' && element_match(&p, *text, either)) {
            pattern = p;
            text++;
        } else if (star != NULL) {
            pattern = star;
            text = ++retry;
        } else {
            return false;
        }
    }
    while (*pattern == '*')
        pattern++;
    return *pattern == '\0';
}

bool glob_match(const char *pattern, const char *text)
{
    return match(pattern, text, false);
}

bool glob_match_either(const char *pattern, const char *text)
{
    return match(pattern, text, true);
}

bool glob_exact(const char *pattern)
{
    return *pattern != '\0' && strpbrk(pattern, "*?[\\") == NULL;
}
