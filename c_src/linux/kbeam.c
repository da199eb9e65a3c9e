/* kbeam.c - see kbeam.h. */
#include "linux/kbeam.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/clock.h"
#include "base/err.h"
#include "linux/kload.h"
#include "util/render.h"

enum {
    RECORD_WORDS = 64,
    PROCESS_WORDS = 112,
    BURST_NS = 3000000, /* for looks at what a VM runs, one right after the other */
    IDS_CHANGED = 14,   /* the first version with 28 bits for the number of a process */
    PATH_MOST = 4096,
    CONTRADICTED = 3, /* looks at which a chain is contradicted */
    GONE = 3          /* times that the process was gone, after which a chain does not lead to the
                         scheduler's          own */
};

/* -- proof ------------------------------------------------------------------------------------- */

static bool is_address(uint64_t word)
{
    return word >= KMEM_LOWEST && word % 8 == 0 && word >> 47 == 0;
}

/* Returns whether a word could be the id of a process of this node. */
static bool is_id(const struct kbeam *v, uint64_t word)
{
    const uint64_t tag = (UINT64_C(1) << v->shift) - 1, number = (UINT64_C(1) << 28) - 1;
    return (word & tag) == 3 && (word >> v->shift & number) != number;
}

/* Notes that a chain has led to this process. */
static void seen(struct kbeam_chain *c, uint64_t id)
{
    if (c->id[0] == 0)
        c->id[0] = id;
    else if (c->id[0] != id)
        c->id[1] = id;
}

static struct kbeam_chain *chain_of(struct kbeam_proof *p, int32_t own, uint16_t back,
                                    uint16_t there)
{
    for (uint32_t i = 0; i < p->nchains; i++)
        if (p->chain[i].own == own && p->chain[i].back == back && p->chain[i].there == there)
            return &p->chain[i];
    if (p->nchains == KBEAM_CHAINS)
        return NULL;
    p->chain[p->nchains] = (struct kbeam_chain){.own = own, .back = back, .there = there};
    return &p->chain[p->nchains++];
}

/* Adds the chains that lead from a record back to it. */
static void find_chains(struct kbeam_proof *p, int32_t own, uint64_t at, const struct kbeam *v,
                        kbeam_read_fn *read, void *arg)
{
    uint64_t record[RECORD_WORDS], process[PROCESS_WORDS];
    if (!read(arg, at, record, RECORD_WORDS))
        return;
    for (uint16_t back = 0; back < RECORD_WORDS; back++) {
        if (!is_address(record[back]) || record[back] == at ||
            !read(arg, record[back], process, PROCESS_WORDS) || !is_id(v, process[0]))
            continue;
        for (uint16_t there = 1; there < PROCESS_WORDS; there++) {
            struct kbeam_chain *c =
                process[there] == at ? chain_of(p, own, (uint16_t)(back * 8), (uint16_t)(there * 8))
                                     : NULL;
            if (c != NULL)
                seen(c, process[0]);
        }
    }
}

/* Returns whether each thread has an address there, and no two have the same. */
static bool may_be_own(uint64_t (*word)[KBEAM_TLS_WORDS], uint32_t n, uint32_t w)
{
    for (uint32_t i = 0; i < n; i++) {
        if (!is_address(word[i][w]))
            return false;
        for (uint32_t j = 0; j < i; j++)
            if (word[j][w] == word[i][w])
                return false;
    }
    return true;
}

enum follows { IDLE, CLOSED, OPEN };

/* Follows a chain from a thread, the i-th of these. */
static enum follows follow(const struct kbeam_chain *c, const struct kbeam_threads *t, uint32_t i,
                           const struct kbeam *v, kbeam_read_fn *read, void *arg, uint64_t *at,
                           uint64_t *id)
{
    uint64_t record, back;
    if (!read(arg, t->tls[i] + (uint64_t)(int64_t)c->own, &record, 1) || !is_address(record) ||
        !read(arg, record + c->back, at, 1))
        return OPEN;
    if (*at == 0)
        return IDLE;
    return is_address(*at) && read(arg, *at, id, 1) && read(arg, *at + c->there, &back, 1) &&
                   back == (i < t->n ? record : 0) && is_id(v, *id)
               ? CLOSED
               : OPEN;
}

static bool is_dead(const struct kbeam_chain *c)
{
    return c->open == CONTRADICTED;
}

/* Notes what a normal scheduler's thread, the i-th, has shown. */
static void noted(struct kbeam_chain *c, uint32_t i, enum follows f, uint64_t id)
{
    const uint32_t bit = UINT32_C(1) << i;
    if (f == CLOSED) {
        seen(c, id);
        c->on |= id == c->id[0] ? bit : 0;
        c->busy |= bit;
    } else if (f == IDLE) {
        c->gone += (c->busy & bit) != 0;
        c->busy &= ~bit;
    }
}

/* Returns whether a chain leads to what comes and goes. */
static bool is_proven(const struct kbeam_chain *c)
{
    return c->id[1] != 0 || (c->on & (c->on - 1)) != 0 || c->gone >= GONE;
}

/* Follows a chain from each thread. One that stays open while the process is the same is wrong, or
 * a thread was interrupted between two processes: what is between them has changed at another look.
 */
static void check(struct kbeam_proof *p, struct kbeam_chain *c, const struct kbeam_threads *t,
                  const struct kbeam *v, kbeam_read_fn *read, void *arg)
{
    enum { AGAIN = 8 };
    uint64_t at = 0, first = 0, id = 0;
    bool open = false;
    for (uint32_t i = 0; i < t->n && !open; i++) {
        enum follows f = OPEN;
        for (unsigned k = 0; k < AGAIN && f == OPEN; k++) {
            f = follow(c, t, i, v, read, arg, &at, &id);
            first = k == 0 ? at : first;
        }
        noted(c, i, f, id);
        open = f == OPEN && at == first;
    }
    if (open && c->opened != p->looks) {
        c->open++;
        c->opened = p->looks;
    }
    /* One that normal schedulers have closed may lead to the second process from a dirty one. */
    for (uint32_t i = t->n; i < t->n + t->ndirty && !open && c->id[0] != 0; i++)
        if (follow(c, t, i, v, read, arg, &at, &id) == CLOSED)
            seen(c, id);
}

/* Reads a thread's own memory, which may end before KBEAM_TLS_WORDS: what is missing becomes 0. */
static bool read_own(uint64_t tls, uint64_t *word, kbeam_read_fn *read, void *arg)
{
    memset(word, 0, KBEAM_TLS_WORDS * sizeof *word);
    for (unsigned n = KBEAM_TLS_WORDS; n >= KBEAM_TLS_WORDS / 4; n -= KBEAM_TLS_WORDS / 8)
        if (read(arg, tls + (uint64_t)(int64_t)KBEAM_TLS_FIRST, word, n))
            return true;
    return false;
}

bool kbeam_check(struct kbeam_proof *p, const struct kbeam_threads *t, kbeam_read_fn *read,
                 void *arg, struct kbeam *layout)
{
    const struct kbeam_chain *proven[2] = {NULL, NULL}; /* never contradicted, and others */
    uint32_t nproven[2] = {0, 0};
    for (uint32_t i = 0; i < p->nchains; i++) {
        struct kbeam_chain *c = &p->chain[i];
        if (!is_dead(c))
            check(p, c, t, layout, read, arg);
        if (is_dead(c) || !is_proven(c))
            continue;
        proven[c->open > 0] = c;
        nproven[c->open > 0]++;
    }
    const bool doubted = nproven[0] == 0;
    if (nproven[doubted] != 1)
        return false;
    layout->own = proven[doubted]->own;
    layout->back = proven[doubted]->back;
    layout->there = proven[doubted]->there;
    return true;
}

bool kbeam_prove(struct kbeam_proof *p, const struct kbeam_threads *t, kbeam_read_fn *read,
                 void *arg, struct kbeam *layout)
{
    static _Thread_local uint64_t word[KBEAM_THREADS][KBEAM_TLS_WORDS];
    uint32_t known = 0;
    p->looks++;
    for (uint32_t i = 0; i < t->n && known < KBEAM_THREADS; i++)
        known += read_own(t->tls[i], word[known], read, arg);
    for (uint32_t w = 0; w < KBEAM_TLS_WORDS && known > 0; w++)
        for (uint32_t i = 0; i < known && may_be_own(word, known, w); i++)
            find_chains(p, KBEAM_TLS_FIRST + (int32_t)w * 8, word[i][w], layout, read, arg);
    return kbeam_check(p, t, read, arg, layout);
}

/* -- names ------------------------------------------------------------------------------------- */

enum {
    ENTRY_WORDS = 5, /* of an entry in the registry: next, hash, process, port, name */
    ATOM_WORDS = 5,  /* of an atom: next, hash, number, length, text */
    ATOMS_READ = 16, /* from the first on, that must have their numbers */
    TEXT_MOST = 24,  /* bytes from where an atom points to its text */
    PIECE = 512,     /* words that are read at once */
    BLOCKS = 64      /* of atoms that are searched */
};

/* Returns where the process has its entry in the registry, in bytes; 0: it has none. */
static uint16_t entry_of(uint64_t at, const uint64_t *process, kbeam_read_fn *read, void *arg)
{
    uint64_t entry[ENTRY_WORDS];
    for (uint16_t w = 1; w < PROCESS_WORDS; w++)
        if (is_address(process[w]) && read(arg, process[w], entry, ENTRY_WORDS) && entry[2] == at &&
            kmem_is_atom(entry[4]) && entry[1] == entry[4] >> KMEM_ATOM_BITS)
            return (uint16_t)(w * 8);
    return 0;
}

/* Leaves out the words that are not followed by a function's. */
static void began(struct kbeam_names *n, const uint64_t *process, struct kbeam *v)
{
    uint16_t found = 0, left = 0;
    for (uint16_t w = 1; w + 2 < PROCESS_WORDS; w++) {
        n->other[w] |= !kmem_is_atom(process[w]) || !kmem_is_atom(process[w + 1]) ||
                       process[w + 2] >= KMEM_ARITY;
        if (n->other[w])
            continue;
        left++;
        found = (uint16_t)(w * 8);
    }
    if (n->id[0] == 0)
        n->id[0] = process[0];
    else if (n->id[0] != process[0])
        n->id[1] = process[0];
    n->initial = n->id[1] != 0 && left == 1;
    v->initial = n->initial ? found : 0;
}

/* Returns whether a word is a pair with this key. */
static bool is_pair(uint64_t word, uint64_t key, kbeam_read_fn *read, void *arg)
{
    uint64_t pair[2];
    return (word & KMEM_TAGS) == KMEM_BOXED && is_address(word - KMEM_BOXED) &&
           read(arg, word - KMEM_BOXED, pair, 2) && pair[0] == KMEM_PAIR && pair[1] == key;
}

/* Returns whether there is a dictionary with a pair for this key where the key belongs. */
static bool is_dictionary(uint64_t at, uint64_t key, kbeam_read_fn *read, void *arg)
{
    uint64_t head, e, cell[2];
    if (!is_address(at) || !read(arg, at, &head, 1))
        return false;
    const uint32_t mask = (uint32_t)head, used = (uint32_t)(head >> 32);
    uint64_t i = key >> KMEM_ATOM_BITS & mask;
    if ((mask & (mask + 1)) != 0 || used == 0 || used > (uint64_t)mask + 1)
        return false;
    i = i >= used ? i & mask >> 1 : i;
    if (!read(arg, at + KMEM_DICTIONARY + i * 8, &e, 1))
        return false;
    for (unsigned n = 0; n < KMEM_CELLS; n++) {
        if (is_pair(e, key, read, arg))
            return true;
        if ((e & KMEM_TAGS) != KMEM_LIST || !is_address(e - KMEM_LIST) ||
            !read(arg, e - KMEM_LIST, cell, 2))
            return false;
        if (is_pair(cell[0], key, read, arg))
            return true;
        e = cell[1];
    }
    return false;
}

static uint16_t dictionary_of(const uint64_t *process, uint64_t key, kbeam_read_fn *read, void *arg)
{
    for (uint16_t w = 1; key != 0 && w < PROCESS_WORDS; w++)
        if (is_dictionary(process[w], key, read, arg))
            return (uint16_t)(w * 8);
    return 0;
}

bool kbeam_name(struct kbeam_names *n, const struct kbeam_threads *t, kbeam_read_fn *read,
                void *arg, struct kbeam *v)
{
    const struct kbeam_chain c = {.own = v->own, .back = v->back, .there = v->there};
    uint64_t at, id, process[PROCESS_WORDS];
    for (uint32_t i = 0; i < t->n + t->ndirty; i++) {
        if (follow(&c, t, i, v, read, arg, &at, &id) != CLOSED ||
            !read(arg, at, process, PROCESS_WORDS) || process[0] != id)
            continue;
        if (!n->initial)
            began(n, process, v);
        if (!n->entry)
            v->entry = entry_of(at, process, read, arg);
        n->entry = v->entry != 0;
        if (!n->dictionary)
            v->dictionary = dictionary_of(process, v->call, read, arg);
        n->dictionary = v->dictionary != 0;
    }
    return n->initial && n->entry && n->dictionary;
}

/* -- stacks ------------------------------------------------------------------------------------ */

enum { HEAP_LEAST = 200, HEAP_MOST = 1 << 28 /* words */, ENOUGH = 8 /* looks that agree */ };

static bool is_return(const struct kbeam *v, uint64_t word)
{
    return (word & 3) == 0 && kbeam_in_code(v, word);
}

/* Returns whether a word is the size of the block that two others begin and end, of which the last
 * word is a return address. */
static bool is_block(const uint64_t *process, uint16_t begin, uint16_t end, const struct kbeam *v,
                     kbeam_read_fn *read, void *arg)
{
    const uint64_t from = process[begin], to = process[end];
    uint64_t last;
    if (!is_address(from) || !is_address(to) || to <= from)
        return false;
    const uint64_t words = (to - from) / 8;
    if (words < HEAP_LEAST || words > HEAP_MOST)
        return false;
    for (uint16_t w = 1; w < PROCESS_WORDS; w++)
        if (process[w] == words)
            return read(arg, to - 8, &last, 1) && is_return(v, last);
    return false;
}

enum frame { NO_FRAME, FRAME, LAST_FRAME };

/* Tells what an address in a block, which ends at `to`, points to: a frame pointer with a return
 * address behind it, which is 0 in the last frame. Of words on a stack that lead into it only frame
 * pointers have this tag. */
static enum frame frame_at(uint64_t at, uint64_t to, const struct kbeam *v, kbeam_read_fn *read,
                           void *arg)
{
    uint64_t pair[2];
    if (to - at < sizeof pair || !read(arg, at, pair, 2) || !is_return(v, pair[1]))
        return NO_FRAME;
    if (pair[0] == 0)
        return LAST_FRAME;
    return pair[0] % 8 == 0 && pair[0] > at && pair[0] < to ? FRAME : NO_FRAME;
}

/* Returns the highest of a process's words that point into a block; 0: none does. */
static uint64_t highest(const uint64_t *process, uint64_t from, uint64_t to)
{
    uint64_t top = 0;
    for (uint16_t w = 1; w < PROCESS_WORDS; w++)
        if (process[w] >= from && process[w] < to && process[w] % 8 == 0 && process[w] > top)
            top = process[w];
    return top;
}

/* Leaves out the words that do not come before the frame pointer, which is the highest, in a block.
 * In an empty frame the stack's top is as high: then what comes before that, and is lower, is not
 * it. */
static void before_frame_pointer(struct kbeam_stacks *s, const uint64_t *process, uint64_t from,
                                 uint64_t top)
{
    bool empty = false;
    for (uint16_t w = 1; w + 1 < PROCESS_WORDS; w++)
        empty |= process[w] == top && process[w + 1] == top;
    s->not_stop[PROCESS_WORDS - 1] = true;
    for (uint16_t w = 1; w + 1 < PROCESS_WORDS; w++)
        s->not_stop[w] |=
            process[w + 1] != top || process[w] > top || process[w] < (empty ? top : from);
}

/* Leaves out the words that are not the top of a stack, which lies in a block. The last frame does
 * not tell which of them it is. */
static void tops(struct kbeam_stacks *s, const uint64_t *process, uint64_t from, uint64_t to,
                 const struct kbeam *v, kbeam_read_fn *read, void *arg)
{
    const uint64_t top = highest(process, from, to);
    const enum frame frame = top != 0 ? frame_at(top, to, v, read, arg) : NO_FRAME;
    if (frame == FRAME)
        before_frame_pointer(s, process, from, top);
    for (uint16_t w = 1; w < PROCESS_WORDS && frame == NO_FRAME; w++)
        s->not_stop[w] |= process[w] != top;
}

/* Takes what one process tells. One that was read while it changed has no such block. */
static void take(struct kbeam_stacks *s, const uint64_t *process, const struct kbeam *v,
                 kbeam_read_fn *read, void *arg)
{
    bool ends[PROCESS_WORDS] = {false}, any = false;
    uint64_t from = 0, to = 0;
    for (uint16_t end = 1; end < PROCESS_WORDS; end++)
        for (uint16_t begin = 1; begin < PROCESS_WORDS && !ends[end]; begin++) {
            ends[end] = is_block(process, begin, end, v, read, arg);
            if (!ends[end])
                continue;
            any = true;
            from = process[begin];
            to = process[end];
        }
    if (!any)
        return;
    for (uint16_t w = 1; w < PROCESS_WORDS; w++)
        s->not_end[w] |= !ends[w];
    tops(s, process, from, to, v, read, arg);
    s->looks++;
    if (s->id[0] == 0)
        s->id[0] = process[0];
    else if (s->id[0] != process[0])
        s->id[1] = process[0];
}

/* Counts the words that are left; *found receives one of them, in bytes. */
static unsigned left(const bool *other, uint16_t *found)
{
    unsigned n = 0;
    for (uint16_t w = 1; w < PROCESS_WORDS; w++)
        if (!other[w]) {
            *found = (uint16_t)(w * 8);
            n++;
        }
    return n;
}

bool kbeam_stack(struct kbeam_stacks *s, const struct kbeam_threads *t, kbeam_read_fn *read,
                 void *arg, struct kbeam *v)
{
    const struct kbeam_chain c = {.own = v->own, .back = v->back, .there = v->there};
    uint64_t at, id, process[PROCESS_WORDS];
    for (uint32_t i = 0; i < t->n + t->ndirty; i++)
        if (follow(&c, t, i, v, read, arg, &at, &id) == CLOSED &&
            read(arg, at, process, PROCESS_WORDS) && process[0] == id)
            take(s, process, v, read, arg);
    uint16_t end = 0, stop = 0;
    const unsigned ends = left(s->not_end, &end), stops = left(s->not_stop, &stop);
    if (ends == 0 || stops == 0)
        *s = (struct kbeam_stacks){.looks = 0}; /* one was read while it changed */
    if (s->id[1] == 0 || s->looks < ENOUGH || ends != 1 || stops != 1)
        return false;
    v->end = end;
    v->stop = stop;
    return true;
}

/* -- atoms ------------------------------------------------------------------------------------- */

size_t kbeam_text(const struct kbeam *v, uint64_t atom, kbeam_read_fn *read, void *arg,
                  char to[KBEAM_ATOM])
{
    const uint64_t i = atom >> KMEM_ATOM_BITS;
    uint64_t block, at, words[ATOM_WORDS], text[KBEAM_ATOM / 8 + 1];
    char bytes[sizeof text];
    if (v->atoms == 0 || !kmem_is_atom(atom) ||
        !read(arg, v->atoms + i / KMEM_ATOMS * 8, &block, 1) || !is_address(block) ||
        !read(arg, block + i % KMEM_ATOMS * 8, &at, 1) || !is_address(at) ||
        !read(arg, at, words, ATOM_WORDS) || (uint32_t)words[2] != i)
        return 0;
    const size_t n = words[3] & 0xffff;
    const uint64_t from = words[4] + v->text;
    if (n == 0 || n >= KBEAM_ATOM ||
        !read(arg, from & ~UINT64_C(7), text, (unsigned)(from % 8 + n + 7) / 8))
        return 0;
    memcpy(bytes, text, sizeof bytes);
    memcpy(to, bytes + from % 8, n);
    to[n] = '\0';
    return n;
}

/* Returns whether this is the text of an atom, `skip` bytes from where it points. */
static bool has_text(const uint64_t *atom, unsigned skip, const char *text, kbeam_read_fn *read,
                     void *arg)
{
    uint64_t words[5];
    char bytes[sizeof words];
    const uint64_t at = atom[4] & ~UINT64_C(7);
    if ((atom[3] & 0xffff) != strlen(text) || !read(arg, at, words, sizeof words / sizeof *words))
        return false;
    memcpy(bytes, words, sizeof bytes);
    return memcmp(bytes + (atom[4] - at) + skip, text, strlen(text)) == 0;
}

static bool are_atoms(uint64_t blocks, kbeam_read_fn *read, void *arg, struct kbeam *v)
{
    uint64_t block, at[ATOMS_READ], atom[ATOMS_READ][ATOM_WORDS];
    if (!read(arg, blocks, &block, 1) || !is_address(block) || !read(arg, block, at, ATOMS_READ))
        return false;
    for (unsigned i = 0; i < ATOMS_READ; i++)
        if (!is_address(at[i]) || !read(arg, at[i], atom[i], ATOM_WORDS) ||
            (uint32_t)atom[i][2] != i)
            return false;
    for (unsigned skip = 0; skip < TEXT_MOST; skip++)
        if (has_text(atom[0], skip, "false", read, arg) &&
            has_text(atom[1], skip, "true", read, arg)) {
            v->atoms = blocks;
            v->text = (uint8_t)skip;
            return true;
        }
    return false;
}

/* Finds those atoms that the program in the kernel compares with. */
static void find_atoms(struct kbeam *v, kbeam_read_fn *read, void *arg)
{
    uint64_t block, at[PIECE], atom[ATOM_WORDS];
    for (uint32_t i = 0; i < BLOCKS * KMEM_ATOMS && (v->call == 0 || v->own_code == 0);
         i += PIECE) {
        if (!read(arg, v->atoms + i / KMEM_ATOMS * 8ull, &block, 1) || !is_address(block) ||
            !read(arg, block + i % KMEM_ATOMS * 8ull, at, PIECE))
            return;
        for (uint32_t k = 0; k < PIECE; k++) {
            if (!is_address(at[k]) || !read(arg, at[k], atom, ATOM_WORDS) ||
                (uint32_t)atom[2] != i + k)
                continue;
            const uint64_t word = (uint64_t)(i + k) << KMEM_ATOM_BITS | KMEM_ATOM;
            if (has_text(atom, v->text, "$initial_call", read, arg))
                v->call = word;
            else if (has_text(atom, v->text, "erts_beamasm", read, arg))
                v->own_code = word;
        }
    }
}

bool kbeam_atoms(uint64_t from, uint64_t to, kbeam_read_fn *read, void *arg, struct kbeam *v)
{
    uint64_t word[PIECE];
    for (uint64_t at = from; at + sizeof word <= to; at += sizeof word) {
        if (!read(arg, at, word, PIECE))
            continue;
        for (unsigned i = 0; i < PIECE; i++)
            if (is_address(word[i]) && are_atoms(word[i], read, arg, v)) {
                find_atoms(v, read, arg);
                return true;
            }
    }
    return false;
}

bool kbeam_layout(const char *path, struct kbeam *out)
{
    const char *erts = NULL;
    for (const char *p = path; (p = strstr(p, "/erts-")) != NULL; p++)
        erts = p + strlen("/erts-");
    if (erts == NULL || !isdigit((unsigned char)*erts))
        return false;
    const bool wide = strtoul(erts, NULL, 10) >= IDS_CHANGED;
    out->shift = wide ? 7 : 4;
    out->number = wide ? 28 : 15;
    out->serial = wide ? 29 : 13;
    return true;
}

/* -- code -------------------------------------------------------------------------------------- */

bool kbeam_in_code(const struct kbeam *v, uint64_t at)
{
    if (at < v->code || at >= v->code_end)
        return false;
    for (uint32_t i = 0; i < v->npieces; i++)
        if (at >= v->piece[i].from && at < v->piece[i].to)
            return true;
    return v->npieces == 0;
}

void kbeam_set_code(struct kbeam *v, const struct kpiece *piece, uint32_t n)
{
    v->code = n > 0 ? piece[0].from : 0;
    v->code_end = n > 0 ? piece[n - 1].to : 0;
    v->npieces = n > 1 ? n : 0;
    memset(v->piece, 0, sizeof v->piece);
    memcpy(v->piece, piece, v->npieces * sizeof *piece);
}

/* Adds a piece, which lies behind the others. Returns false if there is no room for it. */
static bool add_piece(struct kpiece out[KMEM_PIECES], uint32_t *n, uint64_t from, uint64_t to)
{
    if (*n > 0 && out[*n - 1].to == from) {
        out[*n - 1].to = to;
        return true;
    }
    if (*n == KMEM_PIECES)
        return false;
    out[(*n)++] = (struct kpiece){from, to};
    return true;
}

uint32_t kbeam_code_in(FILE *maps, struct kpiece out[KMEM_PIECES])
{
    static const char own[] = "/memfd:vmem";
    char line[PATH_MOST], name[PATH_MOST], access[8];
    unsigned long long from, to;
    struct kpiece single[KMEM_PIECES];
    uint32_t n = 0, nsingle = 0;
    bool few = true;
    while (fgets(line, sizeof line, maps) != NULL) {
        name[0] = '\0';
        if (sscanf(line, "%llx-%llx %7s %*s %*s %*s %4095[^\n]", &from, &to, access, name) < 3 ||
            access[2] != 'x')
            continue;
        if (strncmp(name, own, strlen(own)) == 0) {
            if (!add_piece(out, &n, from, to))
                out[n - 1].to = to;
        } else if (name[0] == '\0' && access[1] == 'w') {
            few = few && add_piece(single, &nsingle, from, to);
        }
    }
    if (n > 0 || !few)
        return n;
    memcpy(out, single, nsingle * sizeof *single);
    return nsingle;
}

uint32_t kbeam_code(uint64_t pid, struct kpiece out[KMEM_PIECES])
{
#ifdef __x86_64__
    char path[64];
    snprintf(path, sizeof path, "/proc/%llu/maps", (unsigned long long)pid);
    FILE *f = fopen(path, "re");
    const uint32_t n = f != NULL ? kbeam_code_in(f, out) : 0;
    if (f != NULL)
        fclose(f);
    return n;
#else
    (void)pid;
    (void)out;
    return 0;
#endif
}

/* -- the VMs of this machine ------------------------------------------------------------------- */

/* A process: one of its number that begins later has other thread-local memory. */
struct who {
    uint32_t tgid;
    uint64_t leader; /* the thread-local memory of its first thread */
};

struct emulator {
    struct who of;
    bool here, known, warned;
    int error; /* errno: its memory cannot be read; 0: it can */
    struct kbeam layout;
    struct kbeam_proof proof;
    bool named, searched; /* all is known that names need; the VM's data was searched for atoms */
    struct kbeam_names names;
    bool stacked; /* all is known that stacks need, or what they need cannot be known */
    struct kbeam_stacks stacks;
};

struct kbeams {
    struct kbeam *table;
    bool stacks; /* they are wanted */
    int tasks;   /* asks the kernel for all threads; -1: not opened */
    struct kload_task *task;
    size_t ntasks, captasks;
    struct emulator *vm;
    size_t nvms, capvms;
    /* The processes that are none, as they were found at the last look, in ascending order: those
     * of this look, and of the one before. */
    struct who *other, *before;
    size_t nothers, nbefore, capothers, capbefore;
};

int kbeams_open(struct kbeams **out, struct kbeam *table, const struct kbtf *types, bool stacks,
                uint64_t *tls, struct diags *d)
{
    struct kbeams *b = et_calloc(1, sizeof *b);
    if (b == NULL)
        return diag_error(d, ET_ENOMEM, NULL, "", NULL, "out of memory for Erlang VMs");
    b->table = table;
    b->stacks = stacks;
    b->tasks = kload_tasks(types, tls, d);
    if (b->tasks < 0) {
        kbeams_close(b);
        return ET_EUNSUP;
    }
    *out = b;
    return 0;
}

void kbeams_close(struct kbeams *b)
{
    if (b == NULL)
        return;
    if (b->tasks >= 0)
        close(b->tasks);
    et_free(b->task);
    et_free(b->vm);
    et_free(b->other);
    et_free(b->before);
    et_free(b);
}

/* Returns whether the process's program is an emulator, and if so, the layout of its ids: all 0 if
 * that is not known. */
static bool is_vm(uint32_t tgid, struct kbeam *layout)
{
    char link[64], path[PATH_MOST];
    snprintf(link, sizeof link, "/proc/%u/exe", tgid);
    const ssize_t n = readlink(link, path, sizeof path - 1);
    if (n <= 0)
        return false;
    path[n] = '\0';
    const char *name = strrchr(path, '/');
    if (name == NULL || strncmp(name, "/beam.", strlen("/beam.")) != 0)
        return false;
    kbeam_layout(path, layout);
    return true;
}

enum thread { OTHER, NORMAL, DIRTY };

/* Tells a thread by its name. */
static enum thread kind_of(uint32_t tgid, uint32_t tid)
{
    char path[64], name[32] = "";
    snprintf(path, sizeof path, "/proc/%u/task/%u/comm", tgid, tid);
    FILE *f = fopen(path, "re");
    const bool got = f != NULL && fgets(name, sizeof name, f) != NULL;
    if (f != NULL)
        fclose(f);
    if (!got)
        return OTHER;
    /* "erts_sched_1", "erts_dcpus_1" and "erts_dios_1"; before OTP 26 "1_scheduler" and
     * "1_dirty_cpu_sch" */
    const bool numbered = isdigit((unsigned char)name[0]);
    if (strncmp(name, "erts_dcpus_", strlen("erts_dcpus_")) == 0 ||
        strncmp(name, "erts_dios_", strlen("erts_dios_")) == 0 ||
        (numbered && strstr(name, "_dirty_") != NULL))
        return DIRTY;
    return strncmp(name, "erts_sched_", strlen("erts_sched_")) == 0 ||
                   (numbered && strstr(name, "_scheduler") != NULL)
               ? NORMAL
               : OTHER;
}

bool kbeam_read(void *arg, uint64_t at, uint64_t *to, unsigned n)
{
    const int *fd = arg;
    return pread(*fd, to, n * sizeof *to, (off_t)at) == (ssize_t)(n * sizeof *to);
}

/* Pages that were read last, each at its number % PAGES: the texts of atoms lie together. */
enum { PAGES = 256, PAGE = 4096, PAGE_WORDS = PAGE / 8 };
struct kbeam_pages {
    int memory;
    uint64_t at[PAGES]; /* 0: none */
    uint64_t word[PAGES][PAGE_WORDS];
};

static bool read_page(struct kbeam_pages *p, uint64_t at)
{
    const uint64_t i = at / PAGE % PAGES;
    if (p->at[i] == at)
        return true;
    p->at[i] = kbeam_read(&p->memory, at, p->word[i], PAGE_WORDS) ? at : 0;
    return p->at[i] != 0;
}

struct kbeam_pages *kbeam_pages(int memory)
{
    struct kbeam_pages *p = et_calloc(1, sizeof *p);
    if (p != NULL)
        p->memory = memory;
    return p;
}

bool kbeam_read_paged(void *arg, uint64_t at, uint64_t *to, unsigned n)
{
    struct kbeam_pages *p = arg;
    unsigned char *out = (unsigned char *)to;
    for (size_t left = n * sizeof *to; left > 0;) {
        const uint64_t in = at % PAGE;
        const size_t some = left < PAGE - in ? left : PAGE - in;
        if (!read_page(p, at - in))
            return false;
        memcpy(out, (const unsigned char *)p->word[at / PAGE % PAGES] + in, some);
        out += some;
        at += some;
        left -= some;
    }
    return true;
}

/* Looks where the VM's code is now. One that has ended keeps what is known. */
static void find_code(struct emulator *vm)
{
    struct kpiece piece[KMEM_PIECES];
    const uint32_t n = kbeam_code(vm->of.tgid, piece);
    if (n > 0)
        kbeam_set_code(&vm->layout, piece, n);
}

/* Searches the VM's data for the table of atoms: what of its program can be written, and the memory
 * right behind that. */
static void search(struct emulator *vm, int memory)
{
    enum { DATA_MOST = 64 << 20 };
    char path[64], line[PATH_MOST], exe[PATH_MOST], name[PATH_MOST], access[8];
    unsigned long long from, to, before = 0;
    snprintf(path, sizeof path, "/proc/%u/exe", vm->of.tgid);
    const ssize_t n = readlink(path, exe, sizeof exe - 1);
    exe[n > 0 ? n : 0] = '\0';
    snprintf(path, sizeof path, "/proc/%u/maps", vm->of.tgid);
    FILE *f = fopen(path, "re");
    struct kbeam_pages *pages = kbeam_pages(memory);
    vm->searched = true;
    find_code(vm);
    while (pages != NULL && f != NULL && fgets(line, sizeof line, f) != NULL) {
        name[0] = '\0';
        if (sscanf(line, "%llx-%llx %7s %*s %*s %*s %4095[^\n]", &from, &to, access, name) < 3)
            continue;
        const bool own = strcmp(name, exe) == 0, behind = from == before && name[0] == '\0';
        if (vm->layout.atoms == 0 && (own || behind) && access[1] == 'w' && to - from < DATA_MOST)
            kbeam_atoms(from, to, kbeam_read_paged, pages, &vm->layout);
        before = own ? to : 0;
    }
    et_free(pages);
    if (f != NULL)
        fclose(f);
}

/* Whether all is known that is wanted. */
static bool is_done(const struct kbeams *b, const struct emulator *vm)
{
    return vm->known && vm->named && (vm->stacked || !b->stacks);
}

static void prove(struct kbeams *b, struct emulator *vm)
{
    char path[64];
    uint64_t tls[2 * KBEAM_THREADS], dirty[KBEAM_THREADS];
    struct kbeam_threads t = {.tls = tls};
    snprintf(path, sizeof path, "/proc/%u/mem", vm->of.tgid);
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    vm->error = fd < 0 ? errno : 0;
    for (size_t i = 0; fd >= 0 && i < b->ntasks; i++) {
        const struct kload_task *a = &b->task[i];
        const enum thread kind =
            a->tgid == vm->of.tgid && a->tls != 0 ? kind_of(vm->of.tgid, a->tid) : OTHER;
        if (kind == NORMAL && t.n < KBEAM_THREADS)
            tls[t.n++] = a->tls;
        else if (kind == DIRTY && t.ndirty < KBEAM_THREADS)
            dirty[t.ndirty++] = a->tls;
    }
    memcpy(tls + t.n, dirty, t.ndirty * sizeof *tls);
    const uint64_t until = monotonic_ns() + BURST_NS;
    for (bool first = true; !vm->known && t.n > 0 && (first || monotonic_ns() < until);
         first = false) {
        kbeam_prove_fn *look = first || vm->proof.nchains == 0 ? kbeam_prove : kbeam_check;
        vm->known = look(&vm->proof, &t, kbeam_read, &fd, &vm->layout);
    }
    if (vm->known && !vm->searched)
        search(vm, fd);
    for (bool first = true; vm->known && !is_done(b, vm) && (first || monotonic_ns() < until);
         first = false) {
        if (!vm->named)
            vm->named = kbeam_name(&vm->names, &t, kbeam_read, &fd, &vm->layout);
        if (b->stacks && !vm->stacked)
            vm->stacked = vm->layout.code_end == 0 ||
                          kbeam_stack(&vm->stacks, &t, kbeam_read, &fd, &vm->layout);
    }
    if (fd >= 0)
        close(fd);
}

static struct kbeam *cell(struct kbeams *b, uint32_t tgid, uint32_t wanted)
{
    for (uint32_t i = 0; i < KMEM_TRIES; i++) {
        struct kbeam *v = &b->table[(tgid + i) % KMEM_BEAMS];
        if (v->tgid == wanted)
            return v;
    }
    return NULL;
}

/* Shows a VM that is known to the program in the kernel. Events may read the cell meanwhile: the id
 * comes last. */
static void show(struct kbeams *b, const struct emulator *vm)
{
    struct kbeam *v = cell(b, vm->of.tgid, vm->of.tgid);
    v = v != NULL ? v : cell(b, vm->of.tgid, 0);
    if (v == NULL)
        return;
    struct kbeam now = vm->layout;
    now.tgid = v->tgid; /* one that is shown stays shown */
    *v = now;
    __atomic_store_n(&v->tgid, vm->of.tgid, __ATOMIC_RELEASE);
}

static void hide(struct kbeams *b, const struct emulator *vm)
{
    struct kbeam *v = cell(b, vm->of.tgid, vm->of.tgid);
    if (v != NULL)
        __atomic_store_n(&v->tgid, 0, __ATOMIC_RELEASE);
}

static bool same(const struct who *a, const struct who *b)
{
    return a->tgid == b->tgid && a->leader == b->leader;
}

static struct emulator *vm_of(struct kbeams *b, const struct who *p)
{
    for (size_t i = 0; i < b->nvms; i++)
        if (same(&b->vm[i].of, p))
            return &b->vm[i];
    return NULL;
}

/* Makes room for one more. Returns false when memory is out. */
static bool room(void **array, size_t *cap, size_t n, size_t size)
{
    if (n < *cap)
        return true;
    const size_t more = *cap ? *cap * 2 : 64;
    void *p = et_realloc(*array, more * size);
    if (p == NULL)
        return false;
    *array = p;
    *cap = more;
    return true;
}

/* Notes a process that is here. *at moves over those of the look before. */
static void meet(struct kbeams *b, const struct who *p, size_t *at)
{
    struct emulator *vm = vm_of(b, p);
    struct kbeam layout = {0};
    while (*at < b->nbefore && b->before[*at].tgid < p->tgid)
        (*at)++;
    const bool other = *at < b->nbefore && same(&b->before[*at], p);
    if (vm == NULL && !other && is_vm(p->tgid, &layout)) {
        if (!room((void **)&b->vm, &b->capvms, b->nvms, sizeof *b->vm))
            return;
        vm = &b->vm[b->nvms++];
        *vm = (struct emulator){.of = *p, .layout = layout};
    }
    if (vm != NULL)
        vm->here = true;
    else if (room((void **)&b->other, &b->capothers, b->nothers, sizeof *b->other))
        b->other[b->nothers++] = *p;
}

/* Forgets the VMs that are gone. */
static void forget(struct kbeams *b)
{
    for (size_t i = 0; i < b->nvms;) {
        struct emulator *vm = &b->vm[i];
        if (vm->here) {
            i++;
            continue;
        }
        if (vm->known)
            hide(b, vm);
        *vm = b->vm[--b->nvms];
    }
}

static void meet_all(struct kbeams *b)
{
    struct who *swap = b->before;
    const size_t cap = b->capbefore;
    size_t at = 0;
    b->before = b->other;
    b->capbefore = b->capothers;
    b->nbefore = b->nothers;
    b->other = swap;
    b->capothers = cap;
    b->nothers = 0;
    b->ntasks = kload_read_tasks(b->tasks, &b->task, &b->captasks);
    for (size_t i = 0; i < b->nvms; i++)
        b->vm[i].here = false;
    for (size_t i = 0; i < b->ntasks; i++) {
        const struct who p = {b->task[i].tgid, b->task[i].tls};
        if (b->task[i].tid == p.tgid)
            meet(b, &p, &at);
    }
}

bool kbeams_look(struct kbeams *b)
{
    bool all = true;
    meet_all(b);
    forget(b);
    for (size_t i = 0; i < b->nvms; i++) {
        struct emulator *vm = &b->vm[i];
        if (vm->layout.shift == 0)
            continue;
        if (!is_done(b, vm))
            prove(b, vm);
        else if (b->stacks)
            find_code(vm);
        if (vm->known)
            show(b, vm);
        all = all && is_done(b, vm);
    }
    return all;
}

void kbeams_warn(struct kbeams *b, bool end, struct diags *d)
{
    bool any = false;
    for (size_t i = 0; i < b->nvms; i++)
        any = any || b->vm[i].known;
    for (size_t i = 0; i < b->nvms; i++) {
        struct emulator *vm = &b->vm[i];
        const char *why = NULL, *hint = NULL;
        if (vm->known || vm->warned)
            continue;
        if (vm->layout.shift == 0) {
            why = "the path of its program does not tell its version (erts-VERSION)";
        } else if (vm->error == EACCES || vm->error == EPERM) { /* otherwise it has just ended */
            why = "its memory cannot be read";
            hint = "run erltrace as root, or with the capability CAP_SYS_PTRACE";
        } else if (end && !any) { /* if another VM is known, this one is idle */
            why = "its processes were not seen to come and go";
            hint = "a VM becomes known when its processes work: an idle one is not, nor one in "
                   "which a single process computes all the time";
        }
        if (why == NULL)
            continue;
        vm->warned = true;
        diag_add(d, DIAG_WARNING, NULL, NULL, hint,
                 "erlpid is \"\" in the Erlang VM with pid %u: %s", vm->of.tgid, why);
    }
}
