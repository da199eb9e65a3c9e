/* record.h - what a running program leaves behind: its layout and its writer.
 *
 * An engine writes records and entries of aggregations; a reader, usually in another process,
 * decodes them (tier/record_read.h). No other code knows their bytes. All integers are
 * little-endian.
 *
 * BLOCKS. The data read from an engine is a sequence of blocks, each of one thread and one kind:
 *
 *     u8 kind (RECORD_PRINCIPAL or RECORD_AGGS) | u8 0 | u16 thread | u32 bytes that follow
 *
 * then consecutive records (principal) or entries (aggregations). Each starts with its total size,
 * a multiple of 8, and is padded with zeros to that size.
 *
 * RECORDS.
 *
 *     u32 size | u32 epid | u64 timestamp (CLOCK_MONOTONIC, ns) | u32 cpu | u32 bytes of the parts
 *
 * then the parts of the clause's actions, consecutive and without padding; in a clause with
 * sub-clauses, the u32 number of the sub-clause precedes them. The epid RECORD_EPID_FAULT marks the
 * record of a fault, whose parts are
 *
 *     u32 epid | u32 action (1.., 0: the predicate) | u32 offset (bytes from the start of the
 *     action's instructions) | u32 fault (enum record_fault) | u64 value
 *
 * PARTS. An integer takes its size: 1, 2, 4 or 8 bytes. A string is a u32 length and its bytes,
 * without NUL. Anything else is its bytes, unchanged.
 *
 * ENTRIES. What one thread added to one key of one aggregation since the last read:
 *
 *     u32 size | u32 aggregation | u32 bytes of the key | u32 cpu | u64 words | key
 *
 * RECORD_ENTRY_LOWER is added to the cpu if a value was a lower bound. dif_agg_words gives the
 * number of words; a key is encoded like parts.
 *
 * The writer writes to memory that the caller knows to be large enough, and checks nothing: it runs
 * during an event. */
#ifndef ET_DIF_RECORD_H
#define ET_DIF_RECORD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "base/buf.h"

/* Kinds of blocks; as a set, the kinds of memory that a reader requests. */
enum { RECORD_PRINCIPAL = 1, RECORD_AGGS = 2 };

enum {
    RECORD_BLOCK_HEAD = 8,      /* bytes of a block before its contents */
    RECORD_HEAD = 24,           /* of a record before its parts */
    RECORD_SUB = 4,             /* of the number of a sub-clause */
    RECORD_TEXT_HEAD = 4,       /* of a string before its text */
    RECORD_ENTRY_HEAD = 16,     /* of an entry before its words */
    RECORD_PARTS_OF_FAULT = 24, /* of the parts of a fault, and */
    RECORD_SIZE_OF_FAULT = RECORD_HEAD + RECORD_PARTS_OF_FAULT, /* of its whole record */
    RECORD_ALIGN = 8
};
enum { RECORD_EPID_FAULT = 0xffffffffu };
#define RECORD_ENTRY_LOWER 0x80000000u

/* Why a clause failed; faults.list describes each. */
enum record_fault {
#define WORD_FAULT(num, name, value, text) RECORD_FAULT_##name = num,
#include "words/faults.list"
#undef WORD_FAULT
};

/* Kinds of drops, as counters have them; drops.list has the texts for users. */
enum record_drop {
#define WORD_DROP(num, name, noun, rest) RECORD_DROP_##name = num,
#include "words/drops.list"
#undef WORD_DROP
    RECORD_NDROPS
};

/* What a principal buffer does when it is full: engine.h. The numbers are sent to nodes. */
enum record_policy {
    RECORD_POLICY_SWITCH,
    RECORD_POLICY_FILL,
    RECORD_POLICY_RING,
    RECORD_NPOLICIES
};

enum {
    RECORD_THREADS = 1024, /* threads that can leave something behind */
    RECORD_CPUS = 256      /* CPUs counted separately; the last stands for all beyond */
};

/* An engine's counters other than drops and `own`, in the order in which a node sends them. */
#define RECORD_COUNTERS(X)                                                                         \
    X(fired)       /* firings */                                                                   \
    X(recorded)    /* records committed */                                                         \
    X(updates)     /* aggregation updates */                                                       \
    X(errors)      /* faults */                                                                    \
    X(filled)      /* executions whose record found the buffer full (policy fill) */               \
    X(overwritten) /* records overwritten by newer ones (policy ring) */

/* All of an engine's counters, summed over all threads since it was created. */
struct record_counts {
#define X(name) uint64_t name;
    RECORD_COUNTERS(X)
#undef X
    uint64_t own; /* the firings of BEGIN, END and intervals */
    uint64_t drop[RECORD_NDROPS];
    struct {
        uint64_t principal, agg;
    } cpu[RECORD_CPUS]; /* the share of each CPU in those drops */
};

/* The parts of a fault's record. */
struct record_failure {
    uint32_t epid, action, offset;
    uint32_t fault; /* enum record_fault; another machine may send any number */
    uint64_t value;
};

_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "integers are written as they lie");

/* The head of an entry, in memory aligned to 8 bytes. */
struct record_entry {
    uint32_t size, agg, keylen, cpu;
    uint64_t words[]; /* then the key */
};
_Static_assert(sizeof(struct record_entry) == RECORD_ENTRY_HEAD, "no padding");
_Static_assert(sizeof(struct record_failure) == RECORD_PARTS_OF_FAULT, "no padding");

/* Appends an integer of 1, 2, 4 or 8 bytes; returns the end. */
static inline unsigned char *record_put_int(unsigned char *p, uint64_t v, uint32_t size)
{
    memcpy(p, &v, size);
    return p + size;
}

/* Appends a string, which may not lie in what is written; returns the end. */
static inline unsigned char *record_put_text(unsigned char *p, const char *s, uint32_t len)
{
    memcpy(p, &len, RECORD_TEXT_HEAD);
    memcpy(p + RECORD_TEXT_HEAD, s, len);
    return p + RECORD_TEXT_HEAD + len;
}

/* Return where the parts of a record begin; the second writes the number of a sub-clause first. */
static inline unsigned char *record_parts(unsigned char *rec)
{
    return rec + RECORD_HEAD;
}
static inline unsigned char *record_put_sub(unsigned char *rec, uint32_t sub)
{
    return record_put_int(record_parts(rec), sub, RECORD_SUB);
}

/* Writes fewer than 8 zeros, without a call. */
static inline void record_pad(unsigned char *p, uint32_t n)
{
    if (n & 4)
        memset(p, 0, 4);
    p += n & 4;
    if (n & 2)
        memset(p, 0, 2);
    p += n & 2;
    if (n & 1)
        *p = 0;
}

/* Completes a record whose parts end at `end`, which has room for the padding. Returns its size. */
static inline uint32_t record_put_head(unsigned char *rec, unsigned char *end, uint32_t epid,
                                       uint64_t timestamp, uint32_t cpu)
{
    const uint32_t bytes = (uint32_t)(end - rec - RECORD_HEAD);
    const uint32_t size = (RECORD_HEAD + bytes + RECORD_ALIGN - 1) & ~(RECORD_ALIGN - 1u);
    record_pad(end, size - RECORD_HEAD - bytes);
    memcpy(rec, &size, 4);
    memcpy(rec + 4, &epid, 4);
    memcpy(rec + 8, &timestamp, 8);
    memcpy(rec + 16, &cpu, 4);
    memcpy(rec + 20, &bytes, 4);
    return size;
}

/* Writes the record of a fault, RECORD_SIZE_OF_FAULT bytes. */
static inline void record_put_fault(unsigned char *rec, const struct record_failure *f,
                                    uint64_t timestamp, uint32_t cpu)
{
    memcpy(record_parts(rec), f, RECORD_PARTS_OF_FAULT);
    record_put_head(rec, rec + RECORD_SIZE_OF_FAULT, RECORD_EPID_FAULT, timestamp, cpu);
}

/* Returns the bytes of an entry, including padding. The caller ensures that this fits. */
static inline uint32_t record_entry_size(unsigned nwords, uint32_t keylen)
{
    return (uint32_t)(RECORD_ENTRY_HEAD + nwords * 8u + keylen + RECORD_ALIGN - 1) &
           ~(RECORD_ALIGN - 1u);
}

/* Begins an entry of that size: everything but its words and its key, which follows them. */
static inline void record_put_entry(struct record_entry *n, uint32_t size, uint32_t agg,
                                    uint32_t keylen, uint32_t cpu)
{
    *n = (struct record_entry){
        .size = size, .agg = agg, .keylen = keylen, .cpu = cpu & ~RECORD_ENTRY_LOWER};
    memset((unsigned char *)n + size - RECORD_ALIGN, 0, RECORD_ALIGN);
}

/* Appends a block of n bytes of whole records or entries to `out`. */
static inline void record_put_block(struct buf *out, unsigned kind, uint32_t thread, const void *p,
                                    uint32_t n)
{
    buf_u8(out, (uint8_t)kind);
    buf_u8(out, 0);
    buf_u16(out, (uint16_t)thread);
    buf_u32(out, n);
    buf_add(out, p, n);
}

static inline uint32_t record_u32(const uint8_t *p)
{
    return (uint32_t)p[0] | (uint32_t)p[1] << 8 | (uint32_t)p[2] << 16 | (uint32_t)p[3] << 24;
}

/* Return the size and the EPID of a record that the engine itself wrote. */
static inline uint32_t record_size(const unsigned char *rec)
{
    return record_u32(rec);
}
static inline uint32_t record_epid(const unsigned char *rec)
{
    return record_u32(rec + 4);
}

#endif
