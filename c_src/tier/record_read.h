/* record_read.h - reads what a running program left behind. dif/record.h describes its layout and
 * writes it; this reader is for the tiers and for what is reported.
 *
 * The bytes may come from another machine. The reader trusts nothing, and reads no byte outside
 * what it was given. It does not know the image, so the caller checks EPIDs and aggregations. */
#ifndef ET_TIER_RECORD_READ_H
#define ET_TIER_RECORD_READ_H

#include "dif/record.h"

static inline uint64_t record_u64(const uint8_t *p)
{
    return record_u32(p) | (uint64_t)record_u32(p + 4) << 32;
}

/* Reads n words, which need not be aligned. (record.h asserts the order of bytes.) */
static inline void record_words(const uint8_t *p, size_t n, uint64_t *out)
{
    memcpy(out, p, n * sizeof *out);
}

struct record_block {
    unsigned kind;    /* RECORD_PRINCIPAL or RECORD_AGGS */
    uint32_t thread;  /* less than RECORD_THREADS in valid data */
    struct rdr items; /* for record_next */
};
/* Reads the next block. Returns false when there is none or (blocks->bad) it is malformed. */
static inline bool record_next_block(struct rdr *blocks, struct record_block *b)
{
    if (blocks->bad || rdr_left(blocks) == 0)
        return false;
    const uint8_t *head = rdr_bytes(blocks, RECORD_BLOCK_HEAD);
    const uint32_t n = head != NULL ? record_u32(head + 4) : 0;
    const uint8_t *p = head != NULL ? rdr_bytes(blocks, n) : NULL;
    if (p == NULL || (head[0] != RECORD_PRINCIPAL && head[0] != RECORD_AGGS)) {
        blocks->bad = true;
        return false;
    }
    *b = (struct record_block){head[0], (uint32_t)head[2] | (uint32_t)head[3] << 8,
                               (struct rdr){p, p + n, false}};
    return true;
}

/* Reads the next record or entry of a block, whole. Returns false when there is none or
 * (items->bad) it is malformed. */
static inline bool record_next(struct rdr *items, struct rdr *one)
{
    const uint32_t size = rdr_left(items) >= 4 ? record_u32(items->p) : 0;
    if (items->bad || rdr_left(items) == 0)
        return false;
    if (size < RECORD_ALIGN || size % RECORD_ALIGN != 0 || size > rdr_left(items)) {
        items->bad = true;
        return false;
    }
    *one = (struct rdr){items->p, items->p + size, false};
    items->p += size;
    return true;
}

struct record_seen {
    uint32_t epid, cpu;
    uint64_t timestamp;
    const uint8_t *parts; /* in place */
    uint32_t bytes;
};
/* Reads one record from record_next. Returns false when it is malformed. */
static inline bool record_read(const struct rdr *one, struct record_seen *r)
{
    const uint8_t *p = one->p;
    if (rdr_left(one) < RECORD_HEAD || record_u32(p + 20) > rdr_left(one) - RECORD_HEAD)
        return false;
    *r = (struct record_seen){.epid = record_u32(p + 4),
                              .timestamp = record_u64(p + 8),
                              .cpu = record_u32(p + 16),
                              .parts = p + RECORD_HEAD,
                              .bytes = record_u32(p + 20)};
    return r->epid != RECORD_EPID_FAULT || r->bytes == RECORD_PARTS_OF_FAULT;
}

/* Reads the parts of a record whose epid is RECORD_EPID_FAULT. */
static inline struct record_failure record_read_fault(const struct record_seen *r)
{
    const uint8_t *p = r->parts;
    return (struct record_failure){.epid = record_u32(p),
                                   .action = record_u32(p + 4),
                                   .offset = record_u32(p + 8),
                                   .fault = record_u32(p + 12),
                                   .value = record_u64(p + 16)};
}

/* Reads the number of a record's sub-clause, with which its parts begin. Sets parts->bad when it is
 * missing. */
static inline uint32_t record_read_sub(struct rdr *parts)
{
    const uint8_t *p = rdr_bytes(parts, RECORD_SUB);
    return p != NULL ? record_u32(p) : 0;
}

/* Read the next part: an integer of `size` bytes, sign-extended if it is signed; or a string, in
 * place (NULL when it is empty or missing). Set parts->bad when it is missing or has another size.
 */
static inline int64_t record_read_int(struct rdr *parts, uint32_t size, bool is_signed)
{
    uint64_t v = 0;
    const bool known = size == 1 || size == 2 || size == 4 || size == 8;
    const uint8_t *p = known ? rdr_bytes(parts, size) : NULL;
    if (p == NULL) {
        parts->bad = true;
        return 0;
    }
    for (uint32_t i = 0; i < size; i++)
        v |= (uint64_t)p[i] << (8 * i);
    const uint64_t sign = size < 8 && is_signed ? UINT64_C(1) << (8 * size - 1) : 0;
    return (int64_t)((v ^ sign) - sign);
}
static inline const char *record_read_text(struct rdr *parts, uint32_t *len)
{
    const uint8_t *head = rdr_bytes(parts, RECORD_TEXT_HEAD);
    *len = head != NULL ? record_u32(head) : 0;
    return rdr_bytes(parts, *len);
}

struct record_added {
    uint32_t agg, cpu, keylen;
    bool lower;                 /* a value was a lower bound */
    const uint8_t *words, *key; /* in place; record_u64 reads a word */
};
/* Read an entry: only its aggregation, or all of it, given the number of words of its aggregation.
 * Return false when it is malformed. */
static inline bool record_read_agg(const struct rdr *one, uint32_t *agg)
{
    if (rdr_left(one) < RECORD_ENTRY_HEAD)
        return false;
    *agg = record_u32(one->p + 4);
    return true;
}
static inline bool record_read_entry(const struct rdr *one, size_t nwords, struct record_added *a)
{
    const uint8_t *p = one->p, *words = p + RECORD_ENTRY_HEAD;
    const size_t left = rdr_left(one);
    if (left < RECORD_ENTRY_HEAD || nwords > (left - RECORD_ENTRY_HEAD) / 8 ||
        record_u32(p + 8) > left - RECORD_ENTRY_HEAD - nwords * 8)
        return false;
    *a = (struct record_added){.agg = record_u32(p + 4),
                               .keylen = record_u32(p + 8),
                               .cpu = record_u32(p + 12) & ~RECORD_ENTRY_LOWER,
                               .lower = (record_u32(p + 12) & RECORD_ENTRY_LOWER) != 0,
                               .words = words,
                               .key = words + nwords * 8};
    return true;
}

#endif
