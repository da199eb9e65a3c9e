/* dictionary.c - see dictionary.h. */
#include "beam/probe/dictionary.h"

#include "beam/agent.h"
#include "beam/probe/inside.h"
#include "beam/probe/term.h"
#include "beam/probe/term_read.h"

/* In words: the mask and the used slots, all slots and the next one to be split, the elements. */
enum { MASK_USED = 0, ALL_SPLIT = 1, ELEMENTS = 2, SLOTS = 3 };

struct header {
    uint64_t mask, used, all, split, elements;
};

static struct header header_of(const volatile uint64_t *w)
{
    const uint64_t first = w[MASK_USED], second = w[ALL_SPLIT];
    return (struct header){.mask = (uint32_t)first,
                           .used = first >> 32,
                           .all = (uint32_t)second,
                           .split = second >> 32,
                           .elements = w[ELEMENTS]};
}

static bool is_header(const struct header *h)
{
    const uint64_t home = h->used - h->split;
    return h->split < h->used && h->used <= h->all && (home & (home - 1)) == 0 &&
           h->split <= home && h->mask == 2 * home - 1;
}

static bool could_be_slot(uint64_t word)
{
    return word == agent.nil || (word & 3) == 1 || (word & 3) == 2; /* a list, something boxed */
}

uint64_t dictionary_elements(int fd, uint64_t at)
{
    uint64_t head[SLOTS], slot[DICTIONARY_SLOTS], filled = 0;
    if (!inside_is_address(at) || !inside_read(fd, at, head, SLOTS))
        return DICTIONARY_NONE;
    const struct header h = header_of(head);
    if (!is_header(&h) || h.used > DICTIONARY_SLOTS ||
        !inside_read(fd, at + sizeof head, slot, h.used))
        return DICTIONARY_NONE;
    for (uint64_t i = 0; i < h.used; i++) {
        if (!could_be_slot(slot[i]))
            return DICTIONARY_NONE;
        filled += slot[i] != agent.nil;
    }
    return filled <= h.elements && (filled > 0 || h.elements == 0) ? h.elements : DICTIONARY_NONE;
}

/* What has been counted. */
struct count {
    uint64_t words, elements;
    unsigned budget; /* of terms */
};

/* Counts an element, and the cell that it has in the copy. Returns false when it is none, or there
 * is too much. */
static bool count_element(ErlNifEnv *env, ERL_NIF_TERM t, struct count *c)
{
    enum { CELL = 2, PAIR = 2 };
    const ERL_NIF_TERM *e;
    int n;
    if (!read_tuple(env, t, &n, &e) || n != PAIR)
        return false;
    bool least;
    const uint32_t words = term_words_within(env, t, &agent.sizes, &c->budget, &least);
    c->words += CELL + (uint64_t)words;
    c->elements++;
    return !least && c->words <= DICTIONARY_WORDS; /* as TERM_SIZE_UNKNOWN is not */
}

static bool count_slot(ErlNifEnv *env, ERL_NIF_TERM t, struct count *c)
{
    ERL_NIF_TERM head;
    if (t == agent.nil)
        return true;
    if (!could_be_slot(t))
        return false;
    if (!read_is_list(env, t))
        return count_element(env, t, c);
    while (read_cell(env, t, &head, &t))
        if (!count_element(env, head, c))
            return false;
    return t == agent.nil;
}

uint32_t dictionary_words(ErlNifEnv *env, uint64_t at)
{
    struct count c = {.budget = DICTIONARY_PARTS};
    if (at == 0)
        return 0;
    if (!inside_is_address(at))
        return DICTIONARY_LARGE;
    const volatile uint64_t *words = (const volatile uint64_t *)(uintptr_t)at;
    const struct header h = header_of(words);
    if (!is_header(&h) || h.used > DICTIONARY_SLOTS)
        return DICTIONARY_LARGE;
    for (uint64_t i = 0; i < h.used; i++)
        if (!count_slot(env, words[SLOTS + i], &c))
            return DICTIONARY_LARGE;
    return c.elements == h.elements ? (uint32_t)c.words : DICTIONARY_LARGE;
}
