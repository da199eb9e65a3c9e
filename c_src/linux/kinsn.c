/* kinsn.c - the lengths of instructions. See kinsn.h.
 *
 * Those of x86-64 are prefixes, an opcode of one of several maps, and what the opcode's letter in
 * the table of its map says (Intel's manual, volume 2, appendix A):
 *
 *     .  nothing          m  a ModRM byte with what it asks for      b  an immediate byte
 *     w  two bytes        z  four bytes, or two with the prefix 66   d  four bytes
 *     B  m and b          Z  m and z                                 p  a prefix
 *     x  no instruction   others: see decode() */
#include "linux/kinsn.h"

#include <string.h>

#ifdef __x86_64__

enum { INSN_MOST = 15 };

/* Rows of 16 opcodes. */
static const char one_byte[] = "mmmmbzxxmmmmbzx2"
                               "mmmmbzxxmmmmbzxx"
                               "mmmmbzpxmmmmbzpx"
                               "mmmmbzpxmmmmbzpx"
                               "pppppppppppppppp"
                               "................"
                               "xxEmppppzZbB...."
                               "bbbbbbbbbbbbbbbb"
                               "BZxBmmmmmmmmmmmX"
                               "..........x....."
                               "aaaa....bz......"
                               "bbbbbbbbqqqqqqqq"
                               "BBw.VvBZe.w..bx."
                               "mmmmxxx.mmmmmmmm"
                               "bbbbbbbbddxb...."
                               "p.pp..tT......mm";
static const char two_bytes[] = "mmmxx.....x.xm.B"
                                "mmmmmmmmmmmmmmmm"
                                "mmmmxxxxmmmmmmmm"
                                ".......x3x4xxxxx"
                                "mmmmmmmmmmmmmmmm"
                                "mmmmmmmmmmmmmmmm"
                                "mmmmmmmmmmmmmmmm"
                                "BBBBmmm.mmxxmmmm"
                                "dddddddddddddddd"
                                "mmmmmmmmmmmmmmmm"
                                "...mBmxx...mBmmm"
                                "mmmmmmmmmmBmmmmm"
                                "mmBmBBBm........"
                                "mmmmmmmmmmmmmmmm"
                                "mmmmmmmmmmmmmmmm"
                                "mmmmmmmmmmmmmmmm";

struct bytes {
    const unsigned char *p, *end;
    bool bad;
    const unsigned char *distance; /* four bytes that count from the instruction's end; or NULL */
    bool jumps;                    /* to code */
};

static unsigned next(struct bytes *b)
{
    b->bad |= b->p == b->end;
    return b->bad ? 0 : *b->p++;
}

static void skip(struct bytes *b, size_t n)
{
    b->bad |= (size_t)(b->end - b->p) < n;
    b->p += b->bad ? 0 : n;
}

/* Takes a ModRM byte, and the SIB byte and displacement that it asks for. */
static unsigned modrm(struct bytes *b)
{
    const unsigned m = next(b), mod = m >> 6;
    unsigned base = m & 7;
    if (mod == 3)
        return m;
    if (base == 4)
        base = next(b) & 7;
    else if (base == 5 && mod == 0)
        b->distance = b->p;
    skip(b, mod == 1 ? 1 : mod == 2 || base == 5 ? 4 : 0);
    return m;
}

/* The opcode of a map of the prefixes VEX, EVEX and XOP. */
static void extended(struct bytes *b, unsigned map)
{
    enum { CODES_0F = 1, CODES_0F3A = 3, CODES_XOP8 = 8, CODES_XOPA = 10 };
    const unsigned op = next(b);
    if (map == 0 || map == 4 || map == 7 || map > CODES_XOPA) {
        b->bad = true;
        return;
    }
    if (map == CODES_0F && op == 0x77)
        return;
    modrm(b);
    if (map == CODES_0F3A || map == CODES_XOP8 || (map == CODES_0F && two_bytes[op] == 'B'))
        skip(b, 1);
    if (map == CODES_XOPA)
        skip(b, 4);
}

static void decode(struct bytes *b)
{
    bool short_operand = false, short_address = false, wide = false;
    unsigned op = next(b), m, map;
    for (; !b->bad && one_byte[op] == 'p'; op = next(b)) {
        const bool rex = op >= 0x40 && op <= 0x4f;
        short_operand |= op == 0x66;
        short_address |= op == 0x67;
        wide = rex && (op & 8) != 0; /* it counts only right before the opcode */
    }
    char how = one_byte[op];
    if (how == '2') {
        op = next(b);
        how = two_bytes[op];
        if (how == '3' || how == '4') {
            next(b);
            how = how == '3' ? 'm' : 'B';
        }
    }
    const size_t z = short_operand && !wide ? 2 : 4;
    switch (how) {
    case '.': break;
    case 'm': modrm(b); break;
    case 'b': skip(b, 1); break;
    case 'w': skip(b, 2); break;
    case 'z': skip(b, z); break;
    case 'd':
        b->distance = b->p;
        b->jumps = true;
        skip(b, 4);
        break;
    case 'B':
        modrm(b);
        skip(b, 1);
        break;
    case 'Z':
        modrm(b);
        skip(b, z);
        break;
    case 'q': skip(b, wide ? 8 : z); break;          /* mov of a constant */
    case 'a': skip(b, short_address ? 4 : 8); break; /* mov of an absolute address */
    case 'e': skip(b, 3); break;                     /* enter */
    case 't':                                        /* test has an immediate, not and neg none */
    case 'T':
        m = modrm(b);
        if ((m >> 3 & 7) < 2)
            skip(b, how == 't' ? 1 : z);
        break;
    case 'v':
        next(b);
        extended(b, 1);
        break;
    case 'V':
        map = next(b) & 31;
        next(b);
        if (map > 3)
            b->bad = true;
        extended(b, map);
        break;
    case 'E':
        map = next(b) & 7;
        skip(b, 2);
        extended(b, map);
        break;
    case 'X': /* pop, or XOP */
        if (b->p < b->end && (*b->p & 31) >= 8) {
            map = next(b) & 31;
            next(b);
            extended(b, map);
        } else {
            modrm(b);
        }
        break;
    default: b->bad = true; break;
    }
}

size_t kinsn_distance(const unsigned char *p, size_t n, size_t *at, bool *jumps)
{
    struct bytes b = {.p = p, .end = p + (n < INSN_MOST ? n : INSN_MOST)};
    decode(&b);
    *at = b.bad || b.distance == NULL ? 0 : (size_t)(b.distance - p);
    *jumps = b.jumps;
    return b.bad ? 0 : (size_t)(b.p - p);
}

size_t kinsn_length(const unsigned char *p, size_t n)
{
    size_t at;
    bool jumps;
    return kinsn_distance(p, n, &at, &jumps);
}

bool kinsn_doubtful(const unsigned char *p, size_t n)
{
    enum { LOCK = 0xf0, ES = 0x26, CS = 0x2e, SS = 0x36, DS = 0x3e };
    enum { VEX3 = 0xc4, VEX2 = 0xc5, EVEX = 0x62 };
    size_t i = 0;
    for (; i < n && one_byte[p[i]] == 'p'; i++)
        if (p[i] == LOCK || p[i] == ES || p[i] == CS || p[i] == SS || p[i] == DS)
            return true;
    return i == n;
}

bool kinsn_unsafe(const unsigned char *p, size_t n, bool entry)
{
    enum { VEX3 = 0xc4, VEX2 = 0xc5, EVEX = 0x62, POP = 0x8f, XOP = 8, MAP = 31 };
    enum { NOP = 0x90, REX = 0x40, REX_MASK = 0xf0, REX_B = 1, CALL = 5 };
    size_t i = 0, prefixes;
    bool is_r8 = false;
    while (i < n && one_byte[p[i]] == 'p' && (p[i] & REX_MASK) != REX)
        i++;
    prefixes = i;
    if (i < n && (p[i] & REX_MASK) == REX)
        is_r8 = (p[i++] & REX_B) != 0;
    if (i >= n || p[i] == VEX3 || p[i] == VEX2 || p[i] == EVEX)
        return true;
    if (p[i] == POP && i + 1 < n && (p[i + 1] & MAP) >= XOP)
        return true;
    if (p[i] == NOP)
        return is_r8;
    const bool does_nothing = i + 1 < n && p[i] == 0x0f && p[i + 1] == 0x1f;
    return does_nothing && !entry && (prefixes > 0 || kinsn_length(p, n) == CALL);
}

size_t kinsn_return(const unsigned char *code, size_t n, size_t *at)
{
    enum { RET = 0xc3, RET_POP = 0xc2, REP = 0xf3, REPNE = 0xf2 };
    while (*at < n) {
        const size_t begin = *at, length = kinsn_length(code + begin, n - begin);
        if (length == 0)
            return KINSN_NONE;
        *at += length;
        const bool prefixed = code[begin] == REP || code[begin] == REPNE;
        const unsigned char is = prefixed && length > 1 ? code[begin + 1] : code[begin];
        if ((is == RET && length == 1u + prefixed) || (is == RET_POP && length == 3u + prefixed))
            return begin;
    }
    return KINSN_NONE;
}

#else

bool kinsn_unsafe(const unsigned char *p, size_t n, bool entry)
{
    (void)p;
    (void)entry;
    return n < 4;
}

size_t kinsn_return(const unsigned char *code, size_t n, size_t *at)
{
    enum { WORD = 4 };
    const unsigned char ret[WORD] = {0xc0, 0x03, 0x5f, 0xd6};
    while (*at + WORD <= n) {
        const size_t begin = *at;
        *at += WORD;
        if (memcmp(code + begin, ret, WORD) == 0)
            return begin;
    }
    return KINSN_NONE;
}

bool kinsn_doubtful(const unsigned char *p, size_t n)
{
    (void)p;
    return n == 0;
}

size_t kinsn_length(const unsigned char *p, size_t n)
{
    enum { WORD = 4 };
    (void)p;
    return n >= WORD ? WORD : 0;
}

size_t kinsn_distance(const unsigned char *p, size_t n, size_t *at, bool *jumps)
{
    (void)p;
    (void)n;
    *at = 0;
    *jumps = false;
    return 0;
}

#endif

bool kinsn_begins(const unsigned char *code, size_t n, uint64_t offset, uint64_t *before)
{
    uint64_t at = 0;
    *before = 0;
    while (at < offset && at < n) {
        const size_t length = kinsn_length(code + at, n - at);
        if (length == 0)
            return false;
        *before = at;
        at += length;
    }
    return at == offset && at < n;
}
