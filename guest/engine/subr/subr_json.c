/* subr_json.c - json(document, path): the value at a path of keys and indexes, "a.b[2].c", as text;
 * NULL when there is none. A string is returned without its quotes and with its escapes unchanged;
 * everything else as it appears in the document. What is skipped is examined only as far as needed
 * to find its end. */
#include "engine/subr/subr.h"

#include <string.h>

#include "base/size.h"

enum { WORK_CHARACTER = 2 }; /* units per character */

struct json {
    const char *s;
    size_t n, at; /* at > n: an error occurred */
};

static void fail(struct json *j)
{
    j->at = j->n + 1;
}

static bool ok(const struct json *j)
{
    return j->at <= j->n;
}

static char here(const struct json *j)
{
    return j->at < j->n ? j->s[j->at] : '\0';
}

static bool blank(char c)
{
    return c == ' ' || c == '\t' || c == '\r' || c == '\n';
}

static void blanks(struct json *j)
{
    while (blank(here(j)))
        j->at++;
}

static bool take(struct json *j, char c)
{
    blanks(j);
    if (here(j) != c)
        return false;
    j->at++;
    return true;
}

/* Skips a string, from its opening quote past its closing one. */
static void skip_string(struct json *j)
{
    for (j->at++; here(j) != '"'; j->at++) {
        if (here(j) == '\0') {
            fail(j);
            return;
        }
        j->at += here(j) == '\\';
    }
    j->at++;
}

/* Skips the value that begins here. */
static void skip_value(struct json *j)
{
    size_t depth = 0, start = j->at;
    do {
        char c = here(j);
        if (c == '"') {
            skip_string(j);
        } else if (c == '\0') {
            if (depth > 0 || j->at == start)
                fail(j);
            return;
        } else if (depth == 0 && (c == ',' || c == ']' || c == '}' || blank(c))) {
            if (j->at == start)
                fail(j);
            return;
        } else {
            depth += c == '{' || c == '[';
            depth -= c == '}' || c == ']';
            j->at++;
            if (depth == 0 && (c == '}' || c == ']'))
                return;
        }
    } while (ok(j) && (depth > 0 || j->s[start] != '"'));
}

/* Moves from an object to the value of a key. */
static void find_key(struct json *j, const char *key, size_t len)
{
    bool more = take(j, '{');
    while (more) {
        blanks(j);
        size_t start = j->at + 1;
        if (here(j) != '"')
            break;
        skip_string(j);
        bool found = ok(j) && j->at - 1 - start == len && memcmp(j->s + start, key, len) == 0;
        if (!take(j, ':'))
            break;
        blanks(j);
        if (found)
            return;
        skip_value(j);
        more = take(j, ',');
    }
    fail(j);
}

/* Moves from an array to its nth element. */
static void find_index(struct json *j, uint64_t n)
{
    bool more = take(j, '[');
    for (; more; n--) {
        blanks(j);
        if (here(j) == ']')
            break;
        if (n == 0)
            return;
        skip_value(j);
        more = take(j, ',');
    }
    fail(j);
}

/* Follows one step of the path; afterwards *p is past it. */
static void step(struct json *j, const struct text *path, size_t *p)
{
    size_t i = *p, start = i;
    if (path->s[i] == '[') {
        uint64_t n = 0;
        for (i++; i < path->n && path->s[i] >= '0' && path->s[i] <= '9' && n < UINT32_MAX; i++)
            n = n * 10 + (uint64_t)(path->s[i] - '0');
        if (i == start + 1 || i == path->n || path->s[i] != ']')
            fail(j);
        else
            find_index(j, n);
        i++;
    } else {
        while (i < path->n && path->s[i] != '.' && path->s[i] != '[')
            i++;
        find_key(j, path->s + start, i - start);
    }
    if (i < path->n && path->s[i] == '.') {
        i++;
        if (i == path->n)
            fail(j);
    }
    *p = i;
}

uint64_t subr_json(struct exec *x, const uint64_t *arg, unsigned n)
{
    struct text document, path;
    (void)n;
    if (!subr_text(x, arg[0], &document) || !subr_text(x, arg[1], &path) || path.n == 0 ||
        !exec_work(x, path.n * WORK_CHARACTER))
        return 0;
    const size_t most = subr_most(x, document.n, WORK_CHARACTER);
    struct json j = {document.s, most, 0};
    for (size_t p = 0; p < path.n && ok(&j);)
        step(&j, &path, &p);
    if (ok(&j))
        blanks(&j);
    size_t start = j.at;
    if (ok(&j))
        skip_value(&j);
    if (!subr_looked(x, j.at, most, document.n, WORK_CHARACTER) || !ok(&j))
        return 0;
    bool string = document.s[start] == '"';
    return subr_copy(x, document.s + start + string, size_left(j.at - start, string ? 2 : 0));
}
