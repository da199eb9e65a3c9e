/* lines.c - see lines.h. */
#include "jit/lines.h"

#include <string.h>
#include <unistd.h>

#include "base/arena.h"
#include "base/hash.h"

enum {
    WORD = 8,
    BLOCK = 1 << 15, /* words in front of a module's code that are examined */
    SLACK = 64,      /* words between the pointers and the first function, at most */
    INFO = 16,       /* bytes from what a pointer points to, to the function's three words */
    NEAR = 64,       /* bytes by which addresses may precede what a pointer points to */
    NEAREST = 3,     /* fewest words from the number of functions to the first pointer */
    FEWEST = 3,      /* functions of a module that counts */
    ENOUGH = 8,      /* modules that decide */
    TABLE_FIXED = 3, /* words of a line table before those for each function */
    SITES_MODULE = 1 << 20,
    CHARACTERS = 255 /* of a file's name */
};

static bool get(int memory, uint64_t at, void *out, size_t bytes)
{
    return bytes > 0 && pread(memory, out, bytes, (off_t)at) == (ssize_t)bytes;
}

static bool in_code(const struct lines *l, uint64_t at)
{
    for (uint32_t i = 0; i < l->ncode; i++)
        if (at >= l->code[i].from && at < l->code[i].to)
            return true;
    return false;
}

static bool is_pointer(const struct lines *l, uint64_t at)
{
    return (at & (WORD - 1)) == 0 && in_code(l, at);
}

bool lines_begin(struct lines *l, int memory, const struct code_extent *code, uint32_t ncode)
{
    lines_end(l);
    l->ncode = ncode < CODE_RANGES ? ncode : CODE_RANGES;
    memcpy(l->code, code, l->ncode * sizeof *code);
    l->memory = memory;
    l->counted = l->seen = 0;
    memset(l->at_number, 0, sizeof l->at_number);
    memset(l->at_table, 0, sizeof l->at_table);
    l->block = et_malloc(BLOCK * sizeof *l->block);
    return l->block != NULL;
}

/* Reads the words in front of the first function; as many as its module's header can have, and
 * `more`. Returns their number. */
static size_t words_before(struct lines *l, uint64_t first, size_t more)
{
    size_t n = LINES_HEADER + SLACK + more;
    for (uint32_t i = 0; i < l->ncode; i++)
        if (first >= l->code[i].from && first < l->code[i].to &&
            (first - l->code[i].from) / WORD < n)
            n = (first - l->code[i].from) / WORD;
    if (n > BLOCK)
        n = BLOCK;
    return get(l->memory, first - n * WORD, l->block, n * WORD) ? n : 0;
}

/* Finds the pointer to the function at `at` among n words. Returns its index, n: there is none. */
static size_t pointer_to(const struct lines *l, uint64_t at, size_t n)
{
    for (size_t i = n; i > LINES_HEADER; i--)
        if (l->block[i - 1] == at - INFO)
            return i - 1;
    return n;
}

void lines_count(struct lines *l, const uint64_t *at, uint32_t n)
{
    if (l->block == NULL || n < FEWEST || n > BLOCK / 2)
        return;
    size_t words = words_before(l, at[0], n), p = pointer_to(l, at[0], words);
    if (p + n > words)
        return;
    for (uint32_t i = 0; i < n; i++)
        if (l->block[p + i] != at[i] - INFO)
            return;
    l->counted++;
    for (uint32_t h = NEAREST; h <= LINES_HEADER; h++)
        l->at_number[h] += l->block[p - h] == n;
}

/* Returns the distance that nearly all have, 0: there is none. */
static uint32_t decided(const uint32_t *votes, uint32_t all)
{
    uint32_t best = 0, second = 0;
    for (uint32_t h = 1; h <= LINES_HEADER; h++) {
        if (votes[h] > votes[best]) {
            second = votes[best];
            best = h;
        } else if (votes[h] > second) {
            second = votes[h];
        }
    }
    return best != 0 && votes[best] >= ENOUGH && votes[best] >= all - all / 8 &&
                   second <= votes[best] / 4
               ? best
               : 0;
}

bool lines_shape(struct lines *l)
{
    l->number = decided(l->at_number, l->counted);
    return l->number != 0;
}

/* Returns whether a line table can be at an address, for a module with these pointers. */
static bool can_be_table(const struct lines *l, uint64_t at, const uint64_t *pointer, uint64_t n)
{
    uint64_t fixed[TABLE_FIXED + 1], end, site;
    if (!is_pointer(l, at) || at < pointer[n - 1] || !get(l->memory, at, fixed, sizeof fixed) ||
        !get(l->memory, at + (TABLE_FIXED + n) * WORD, &end, sizeof end))
        return false;
    const uint32_t size = (uint32_t)fixed[1];
    return is_pointer(l, fixed[0]) && (size == 2 || size == 4) && in_code(l, fixed[2]) &&
           is_pointer(l, fixed[3]) && is_pointer(l, end) && end >= fixed[3] &&
           (end - fixed[3]) / WORD <= SITES_MODULE && get(l->memory, fixed[3], &site, WORD) &&
           site + NEAR >= pointer[0] && site <= pointer[n];
}

static uint64_t print_of(const struct lines *l, const uint64_t *header)
{
    uint64_t h = l->number;
    for (uint32_t i = 0; i < l->number; i++)
        h = hash_mix(h, header[i]);
    return h;
}

/* Returns whether n pointers, and that to the end, are at p, and lead to all these functions. */
static bool leads_to(const struct lines *l, const uint64_t *p, uint64_t n, const uint64_t *at,
                     uint32_t nat)
{
    uint32_t k = 0;
    for (uint64_t i = 0; i < n; i++) {
        if (!is_pointer(l, p[i]) || p[i + 1] <= p[i])
            return false;
        k += k < nat && p[i] == at[k] - INFO;
    }
    return k == nat;
}

bool lines_find(struct lines *l, const uint64_t *at, uint32_t n, struct lines_module *out)
{
    *out = (struct lines_module){0};
    if (l->block == NULL || l->number == 0 || n == 0 || n > BLOCK / 4)
        return false;
    /* Old code may have functions that no longer have a name: more pointers than n. */
    size_t words = words_before(l, at[0], 2 * (size_t)n + 256), p = pointer_to(l, at[0], words);
    if (p == words)
        return false;
    for (uint32_t back = 0; p > LINES_HEADER && back < n + 256; back++, p--) {
        const uint64_t number = l->block[p - l->number];
        if (number >= n && number < words - p && leads_to(l, &l->block[p], number, at, n)) {
            const uint64_t first = at[0] - words * WORD + p * WORD;
            *out = (struct lines_module){first, print_of(l, &l->block[p - l->number]),
                                         (uint32_t)number};
            break;
        }
        if (!is_pointer(l, l->block[p - 1]) || l->block[p - 1] >= l->block[p])
            return false;
    }
    if (out->n < FEWEST)
        return out->n > 0;
    bool any = false;
    for (uint32_t h = 1; h < l->number; h++)
        if (can_be_table(l, l->block[p - h], &l->block[p], out->n)) {
            l->at_table[h]++;
            any = true;
        }
    l->seen += any;
    return true;
}

void lines_end(struct lines *l)
{
    if (l->block != NULL)
        l->table = l->number != 0 ? decided(l->at_table, l->seen) : 0;
    et_free(l->block);
    l->block = NULL;
}

/* -- reading ----------------------------------------------------------------------------------- */

/* Reads the fixed words of a module's line table. */
static bool read_table(const struct lines *l, int memory, const struct lines_module *m,
                       uint64_t *table, uint64_t fixed[TABLE_FIXED + 1], uint32_t *files)
{
    uint64_t header[LINES_HEADER];
    if (m->pointers == 0 || l->number == 0 || l->table == 0 ||
        !get(memory, m->pointers - l->number * WORD, header, l->number * WORD) ||
        print_of(l, header) != m->print)
        return false;
    *table = header[l->number - l->table];
    if (!is_pointer(l, *table) || !get(memory, *table, fixed, (TABLE_FIXED + 1) * WORD))
        return false;
    const uint32_t size = (uint32_t)fixed[1];
    const uint64_t names = (fixed[2] - fixed[0]) / WORD; /* the locations follow the names */
    if ((size != 2 && size != 4) || !is_pointer(l, fixed[0]) || !in_code(l, fixed[2]) ||
        fixed[2] <= fixed[0] || names == 0 || names > 256)
        return false;
    *files = (uint32_t)names;
    return true;
}

bool lines_still(const struct lines *l, int memory, const struct lines_module *m)
{
    uint64_t table, fixed[TABLE_FIXED + 1];
    uint32_t files;
    return read_table(l, memory, m, &table, fixed, &files);
}

/* Returns which function of its module has its words at `at`, m->n: none. */
static uint32_t which(int memory, const struct lines_module *m, uint64_t at, uint64_t pointer[2])
{
    uint32_t low = 0, high = m->n;
    while (low < high) {
        uint32_t mid = low + (high - low) / 2;
        if (!get(memory, m->pointers + mid * (uint64_t)WORD, pointer, 2 * WORD))
            return m->n;
        if (pointer[0] + INFO == at)
            return mid;
        if (pointer[0] + INFO < at)
            low = mid + 1;
        else
            high = mid;
    }
    return m->n;
}

size_t lines_read(struct lines *l, int memory, const struct lines_module *m, uint64_t at,
                  struct lines_site *out)
{
    uint64_t *site = l->site;
    uint8_t *locations = l->location;
    uint64_t table, fixed[TABLE_FIXED + 1], pointer[2], part[2];
    uint32_t files;
    if (!read_table(l, memory, m, &table, fixed, &files))
        return 0;
    const uint32_t size = (uint32_t)fixed[1], k = which(memory, m, at, pointer);
    if (k == m->n || !get(memory, table + (TABLE_FIXED + k) * WORD, part, sizeof part) ||
        !is_pointer(l, part[0]) || !is_pointer(l, part[1]) || part[0] < fixed[3] ||
        part[1] <= part[0])
        return 0;
    const uint64_t n = (part[1] - part[0]) / WORD, first = (part[0] - fixed[3]) / WORD;
    if (n > LINES_SITES || first > SITES_MODULE || !get(memory, part[0], site, (n + 1) * WORD) ||
        !get(memory, fixed[2] + first * size, locations, n * size) || site[0] + NEAR < pointer[0] ||
        site[n - 1] > pointer[1] || pointer[1] - pointer[0] > UINT32_MAX)
        return 0;
    for (uint64_t i = 0; i < n; i++) {
        uint32_t location = 0;
        memcpy(&location, locations + i * size, size);
        if (site[i + 1] < site[i] || location >> 24 >= files)
            return 0;
        out[i] = (struct lines_site){site[i] > at ? (uint32_t)(site[i] - at) : 0, location};
    }
    return (size_t)n;
}

/* Appends a character in UTF-8. Returns its bytes. */
static size_t put_character(char *out, uint32_t c)
{
    if (c < 0x80) {
        out[0] = (char)c;
        return 1;
    }
    const unsigned tail = c < 0x800 ? 1 : c < 0x10000 ? 2 : 3;
    static const uint8_t lead[] = {0, 0xc0, 0xe0, 0xf0};
    out[0] = (char)(lead[tail] | c >> 6 * tail);
    for (unsigned i = 1; i <= tail; i++)
        out[i] = (char)(0x80 | (c >> 6 * (tail - i) & 0x3f));
    return 1 + tail;
}

/* Returns whether these bytes are UTF-8. */
static bool is_utf8(const uint8_t *p, size_t n)
{
    for (size_t i = 0; i < n;) {
        if (p[i] >= 0x80 && (p[i] < 0xc2 || p[i] > 0xf4))
            return false;
        const size_t more = p[i] < 0x80 ? 0 : p[i] < 0xe0 ? 1 : p[i] < 0xf0 ? 2 : 3;
        if (more > n - i - 1)
            return false;
        for (size_t k = 1; k <= more; k++)
            if ((p[i + k] & 0xc0) != 0x80)
                return false;
        i += 1 + more;
    }
    return true;
}

size_t lines_file(const struct lines *l, int memory, const struct lines_module *m, uint32_t file,
                  char *out)
{
    enum { TAG = 7, LIST = 1, SMALL = 15, SMALL_BITS = 4, NIL = 0x3b, PRIMARY = 3 };
    uint64_t table, fixed[TABLE_FIXED + 1], term, cell[2];
    uint32_t files;
    uint8_t byte[CHARACTERS + 1];
    bool bytes = true;
    size_t len = 0;
    if (!read_table(l, memory, m, &table, fixed, &files) || file >= files ||
        !get(memory, fixed[0] + file * (uint64_t)WORD, &term, sizeof term))
        return 0;
    for (unsigned i = 0; i <= CHARACTERS && len + 4 <= LINES_FILE_MOST; i++, term = cell[1]) {
        if (term ==
            NIL) { /* before OTP 27 a list of the bytes of UTF-8, since then of characters */
            if (bytes && is_utf8(byte, i)) {
                memcpy(out, byte, i);
                len = i;
            }
            return len;
        }
        if ((term & PRIMARY) != LIST || !get(memory, term & ~(uint64_t)TAG, cell, sizeof cell) ||
            (cell[0] & SMALL) != SMALL || cell[0] >> SMALL_BITS < ' ' ||
            cell[0] >> SMALL_BITS > 0x10ffff ||
            (cell[0] >> SMALL_BITS >= 0xd800 && cell[0] >> SMALL_BITS <= 0xdfff))
            return 0;
        bytes = bytes && cell[0] >> SMALL_BITS < 256;
        byte[i] = (uint8_t)(cell[0] >> SMALL_BITS);
        len += put_character(out + len, (uint32_t)(cell[0] >> SMALL_BITS));
    }
    return 0;
}
