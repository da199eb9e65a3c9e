/* term_text.c - terms as text, in the syntax of Erlang or Elixir. See term.h.
 *
 * Erlang's is that of io_lib:format("~0tp"), where nothing is cut: texts are shown as texts.
 * Elixir's is that of inspect/1 without protocols. The walk recurses to a small fixed depth, and
 * carries a budget from which every visited term takes one. Maps of more than 32 keys are not
 * walked, because their iterator allocates; nor are bits behind a binary's bytes, which a NIF
 * cannot see. */
#include "beam/probe/term.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/number.h"
#include "base/size.h"
#include "beam/probe/records.h"
#include "beam/probe/term_read.h"
#include "words/otp.h"

/* Costs in elements examined: a text that the emulator makes, an attempt to write a float, and a
 * term. */
enum { LOOKS_TEXT = 32, LOOKS_FLOAT = 100, LOOKS_NODE = 4 };

struct term_out {
    char *p;
    size_t len, cap; /* cap: bytes that may be used, without the NUL; len never exceeds it */
    unsigned budget; /* terms that may still be examined */
    size_t scan;     /* elements of lists that may be examined to see what they are */
    uint64_t looked; /* what was examined, see term.h */
    const struct terms_view *view; /* NULL: all is shown */
    bool elixir;
    bool arguments; /* the outermost list is no text */
    bool cut;       /* something was left out: nothing more is written */
};

static void put(struct term_out *o, const char *s, size_t n)
{
    if (o->cut)
        return;
    const size_t room = size_left(o->cap, o->len);
    o->cut = n > room;
    n = size_min(n, room);
    memcpy(o->p + o->len, s, n);
    o->len += n;
}

static void puts_(struct term_out *o, const char *s)
{
    put(o, s, strlen(s));
}

static void put_either(struct term_out *o, const char *erlang, const char *elixir)
{
    puts_(o, o->elixir ? elixir : erlang);
}

/* Returns the length of what a function like snprintf wrote into cap bytes. */
static size_t clamp(int n, size_t cap)
{
    return n < 0 ? 0 : size_min((size_t)n, size_left(cap, 1));
}

/* -- characters -------------------------------------------------------------------------------- */

/* Reads a character of UTF-8 at the start of n bytes. Returns its length, 0: it is none. */
static size_t character(const unsigned char *p, size_t n, unsigned *c)
{
    static const unsigned least[] = {0, 0, 0x80, 0x800, 0x10000};
    const size_t len = p[0] < 0x80                    ? 1
                       : p[0] >= 0xc2 && p[0] < 0xe0  ? 2
                       : p[0] >= 0xe0 && p[0] < 0xf0  ? 3
                       : p[0] >= 0xf0 && p[0] <= 0xf4 ? 4
                                                      : 0;
    if (len == 0 || len > n)
        return 0;
    *c = len == 1 ? p[0] : p[0] & (0x7fu >> len);
    for (size_t i = 1; i < len; i++) {
        if ((p[i] & 0xc0) != 0x80)
            return 0;
        *c = *c << 6 | (p[i] & 0x3fu);
    }
    return *c >= least[len] && *c <= 0x10ffff && (*c < 0xd800 || *c > 0xdfff) ? len : 0;
}

/* Puts a character as UTF-8, never a part of it. */
static void put_utf8(struct term_out *o, unsigned c)
{
    unsigned char u[4];
    const size_t n = term_utf8(c, u);
    if (n > size_left(o->cap, o->len))
        o->cut = true;
    else
        put(o, (const char *)u, n);
}

/* Returns the letter that stands for a control character after a backslash; 0: none. */
static char escape(const struct term_out *o, unsigned c)
{
    switch (c) {
    case '\a': return o->elixir ? 'a' : 0;
    case '\n': return 'n';
    case '\t': return 't';
    case '\r': return 'r';
    case '\v': return 'v';
    case '\b': return 'b';
    case '\f': return 'f';
    case 27: return 'e';
    case 127: return 'd';
    default: return 0;
    }
}

/* Returns whether a text with the character is shown as text. */
static bool printable(const struct term_out *o, unsigned c)
{
    if (o->elixir)
        return (c >= 0x20 && (c < 0x80 || c >= 0xa0)) || escape(o, c);
    return (c >= 0x20 && c < 0x7f) || (c >= 0xa0 && c < 0x100) || (escape(o, c) && c != 127);
}

static void put_char(struct term_out *o, unsigned c, char quote)
{
    char tmp[8] = {'\\', escape(o, c)};
    if (tmp[1] != 0)
        put(o, tmp, 2);
    else if (c == (unsigned char)quote || c == '\\')
        put(o, (char[]){'\\', (char)c}, 2);
    else if (c < 0x20 || (c >= 0x7f && c < 0xa0))
        put(o, tmp,
            clamp(snprintf(tmp, sizeof tmp, o->elixir ? "\\x%02X" : "\\%03o", c & 255u),
                  sizeof tmp));
    else
        put_utf8(o, c);
}

/* Puts n bytes, UTF-8 or else Latin-1, between quotes. */
static void put_quoted(struct term_out *o, const unsigned char *p, size_t n, char quote, bool utf8)
{
    unsigned c = 0;
    put(o, &quote, 1);
    for (size_t i = 0, len = 1; i < n && !o->cut; i += len) {
        if (utf8)
            len = character(p + i, n - i, &c);
        if (!utf8 || len == 0) {
            c = p[i];
            len = 1;
        }
        if (o->elixir && c == '#' && i + 1 < n && p[i + 1] == '{')
            puts_(o, "\\");
        put_char(o, c, quote);
    }
    put(o, &quote, 1);
}

/* -- atoms ------------------------------------------------------------------------------------- */

static bool maybe; /* is a reserved word, as is else */

static bool is_lower(unsigned c)
{
    return (c >= 'a' && c <= 'z') || (c >= 0xdf && c <= 0xff && c != 0xf7);
}

static bool is_upper(unsigned c)
{
    return (c >= 'A' && c <= 'Z') || (c >= 0xc0 && c <= 0xde && c != 0xd7);
}

static bool is_one_of(const char *s, size_t n, const char *const *words)
{
    for (; *words; words++)
        if (n > 0 && (*words)[0] == s[0] && strlen(*words) == n && memcmp(*words, s, n) == 0)
            return true;
    return false;
}

/* Returns whether an atom of this name needs no quotes. */
static bool unquoted(const struct term_out *o, const char *s, size_t n)
{
    static const char *const reserved[] = {
        "after", "and",    "andalso", "band", "begin", "bnot", "bor", "bsl", "bsr", "bxor",
        "case",  "catch",  "cond",    "div",  "end",   "fun",  "if",  "let", "not", "of",
        "or",    "orelse", "receive", "rem",  "try",   "when", "xor", NULL};
    static const char *const reserved_later[] = {"maybe", "else", NULL};
    static const char *const operators[] = {
        "!",    "!=",  "!==", "&",   "&&",  "&&&",  "*",    "**",  "+",  "++",  "+++",
        "-",    "--",  "---", "->",  "..",  "...",  "..//", "/",   "<",  "<-",  "<<<",
        "<<>>", "<<~", "<=",  "<>",  "<|>", "<~",   "<~>",  "=",   "==", "===", "=>",
        "=~",   ">",   ">=",  ">>>", "@",   "\\\\", "^",    "^^^", "{}", "|",   "|>",
        "||",   "|||", "~>",  "~>>", "~~~", "%",    "%{}",  "::",  "//", NULL};
    unsigned c = 0;
    if (n == 0)
        return false;
    for (size_t i = 0, len; i < n; i += len) {
        len = character((const unsigned char *)s + i, n - i, &c);
        bool letter = is_lower(c) || (i > 0 && is_upper(c)) || (o->elixir && c >= 0x100);
        bool first = letter || (o->elixir && (c == '_' || is_upper(c)));
        bool last = o->elixir && i > 0 && i + 1 == n && (c == '?' || c == '!');
        if (len == 0)
            return false;
        if (!first && !last && (i == 0 || !((c >= '0' && c <= '9') || c == '_' || c == '@')))
            return o->elixir && is_one_of(s, n, operators);
    }
    return o->elixir || !(is_one_of(s, n, reserved) || (maybe && is_one_of(s, n, reserved_later)));
}

/* Returns the length of the prefix that Elixir's modules have; 0: this is none of them. */
static size_t alias(const char *s, size_t n)
{
    enum { PREFIX = 7 };
    if (n <= PREFIX || memcmp(s, "Elixir.", PREFIX) != 0)
        return 0;
    for (size_t i = PREFIX; i < n; i++) {
        const char c = s[i];
        if (s[i - 1] == '.' ? !(c >= 'A' && c <= 'Z')
                            : !((c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') ||
                                (c >= '0' && c <= '9') || c == '_' || (c == '.' && i + 1 < n)))
            return 0;
    }
    return PREFIX;
}

static bool is_alias(const char *s, size_t n)
{
    return (n == 6 && memcmp(s, "Elixir", 6) == 0) || alias(s, n) > 0;
}

/* Puts an atom; `key`: before a colon, as Elixir writes keys. Not inlined: its room is needed once,
 * not at each depth. */
__attribute__((noinline)) static void text_atom(ErlNifEnv *env, ERL_NIF_TERM t, struct term_out *o,
                                                bool key)
{
    static const char *const words[] = {"nil", "true", "false", NULL};
    char name[4 * TERM_ATOM];
    const char quote = o->elixir ? '"' : '\'';
    int len = term_atom_utf8(env, t, name, TERM_ATOM);
    o->looked += LOOKS_TEXT;
    if (len < 0) { /* the emulator's text, in quotes if it needs them */
        const size_t most = clamp(enif_snprintf(name, sizeof name, "%T", t), sizeof name);
        if (o->elixir && most > 1 && name[0] == '\'') {
            name[0] = name[most - 1] = quote;
            puts_(o, key ? "" : ":");
        }
        put(o, name, most);
        puts_(o, key ? ": " : "");
        return;
    }
    const size_t n = (size_t)len;
    if (o->elixir && !key) {
        if (is_alias(name, n)) {
            put(o, name + alias(name, n), n - alias(name, n));
            return;
        }
        puts_(o, is_one_of(name, n, words) ? "" : ":");
    }
    if (unquoted(o, name, n))
        put(o, name, n);
    else
        put_quoted(o, (const unsigned char *)name, n, quote, true);
    puts_(o, key ? ": " : "");
}

/* Returns whether Elixir writes an atom as `key:`. */
static bool is_key(ErlNifEnv *env, ERL_NIF_TERM t, struct term_out *o)
{
    char name[TERM_ATOM];
    o->looked += LOOKS_TEXT;
    if (!read_is_word(t) || !enif_is_atom(env, t))
        return false;
    int n = term_atom_utf8(env, t, name, sizeof name);
    return n >= 0 && !is_alias(name, (size_t)n);
}

/* -- numbers ----------------------------------------------------------------------------------- */

/* The emulator prints an integer without asking for memory when it has at most 63 characters. */
static struct {
    ErlNifEnv *env;
    ERL_NIF_TERM least, most;
} large;

void term_text_init(int otp)
{
    maybe = otp_has(otp, OTP_MAYBE);
    enum { BYTES = 25 /* below 10 to the power of 61 */ };
    unsigned char ext[4 + BYTES] = {131, 110, BYTES};
    if (large.env != NULL || (large.env = enif_alloc_env()) == NULL)
        return;
    memset(ext + 4, 0xff, BYTES);
    bool made = enif_binary_to_term(large.env, ext, sizeof ext, &large.most, 0) != 0;
    ext[3] = 1; /* negative */
    if (made && enif_binary_to_term(large.env, ext, sizeof ext, &large.least, 0) != 0)
        return;
    term_text_done();
}

void term_text_done(void)
{
    if (large.env != NULL)
        enif_free_env(large.env);
    large.env = NULL;
}

bool term_is_short(ERL_NIF_TERM t)
{
    return large.env != NULL && enif_compare(t, large.most) <= 0 &&
           enif_compare(t, large.least) >= 0;
}

enum {
    DIGITS = 17,   /* that tell any two floats apart */
    FRACTION = 52, /* bits of a float's fraction */
    FLOAT_TEXT = 48
};

/* Writes the fewest digits that are d, which is above 0, as 0.DIGITS times 10 to the power of
 * *place. Returns their number. */
static size_t shortest(double d, char *digit, int *place, struct term_out *o)
{
    char tmp[FLOAT_TEXT];
    uint64_t bits, exponent = 0;
    memcpy(&bits, &d, sizeof bits);
    const bool below_normal = bits >> FRACTION == 0;
    const uint64_t fraction = bits & ((UINT64_C(1) << FRACTION) - 1);
    /* Below the normal ones the fraction itself is the number. */
    const bool power = below_normal ? (fraction & (fraction - 1)) == 0 : fraction == 0;
    int n = 0;
    size_t len = 0;
    /* All numbers of 15 digits differ as floats, except near 0. */
    for (n = below_normal ? 1 : 15; n <= DIGITS; n++) {
        snprintf(tmp, sizeof tmp, "%.*e", n - 1, d);
        o->looked += LOOKS_FLOAT;
        if (strtod(tmp, NULL) == d)
            break;
        /* Above a power of two floats are rarer than below it, and the next number may do. */
        char *last = strchr(tmp, 'e') - 1;
        if (n == DIGITS - 1 && power && *last < '9' && (++*last, strtod(tmp, NULL) == d))
            break;
    }
    for (const char *p = tmp; *p != 'e' && len < DIGITS; p++)
        if (*p >= '0' && *p <= '9')
            digit[len++] = *p;
    const char *ten = strchr(tmp, 'e') + 1; /* "+07", "-308" */
    const bool negative = *ten++ == '-';
    number_read(&ten, 10, &exponent);
    *place = (negative ? -(int)exponent : (int)exponent) + 1;
    while (len > 1 && digit[len - 1] == '0')
        len--;
    return len;
}

static void text_float(double d, struct term_out *o)
{
    static const char zeros[] = "000000000000000000000";
    char digit[DIGITS], exp[8];
    int place = 1;
    size_t n = 1;
    digit[0] = '0';
    if (!isfinite(d)) { /* no float of Erlang is */
        puts_(o, "<float>");
        return;
    }
    if (signbit(d))
        puts_(o, "-");
    if (d != 0)
        n = shortest(fabs(d), digit, &place, o);
    if (o->elixir && fabs(d) >= 1 && fabs(d) < 1e16 && place >= (int)n) { /* an integer */
        put(o, digit, n);
        put(o, zeros, (size_t)place - n);
        puts_(o, ".0");
        return;
    }
    const int len = (int)n, cost = snprintf(exp, sizeof exp, "%d", place - 1) + (n == 1 ? 3 : 2);
    if (fabs(d) < 0x1p53 && place > 0 && place < len) {
        put(o, digit, (size_t)place);
        puts_(o, ".");
        put(o, digit + place, (size_t)(len - place));
    } else if (fabs(d) < 0x1p53 && place <= 0 && (place == 0 || 2 - place <= cost)) {
        puts_(o, "0.");
        put(o, zeros, (size_t)-place);
        put(o, digit, n);
    } else if (fabs(d) < 0x1p53 && place > 0 && place - len + 2 <= cost) {
        put(o, digit, n);
        put(o, zeros, (size_t)(place - len));
        puts_(o, ".0");
    } else {
        put(o, digit, 1);
        puts_(o, ".");
        put(o, n == 1 ? "0" : digit + 1, n == 1 ? 1 : n - 1);
        puts_(o, "e");
        puts_(o, exp);
    }
}

static void text_number(ErlNifEnv *env, ERL_NIF_TERM t, struct term_out *o)
{
    char tmp[64];
    int64_t i;
    double d;
    if (read_int64(env, t, &i)) {
        put(o, tmp, clamp(snprintf(tmp, sizeof tmp, "%lld", (long long)i), sizeof tmp));
    } else if (read_double(env, t, &d)) {
        text_float(d, o);
    } else if (read_is_short(t)) {
        o->looked += LOOKS_TEXT;
        put(o, tmp, read_printed(t, tmp, sizeof tmp));
    } else {
        puts_(o, "<bignum>");
    }
}

/* -- pids and the like ------------------------------------------------------------------------- */

/* Puts what the emulator prints; for Elixir with another word between # and <. */
static void text_emulator(ERL_NIF_TERM t, struct term_out *o, const char *elixir)
{
    char tmp[2 * TERM_TEXT + 64];
    size_t n = read_printed(t, tmp, sizeof tmp);
    const char *from = o->elixir ? memchr(tmp, '<', n) : tmp;
    o->looked += LOOKS_TEXT;
    if (o->elixir)
        puts_(o, elixir);
    if (o->elixir && from == NULL) { /* fun lists:map/2 */
        puts_(o, "<");
        put(o, tmp + 4, size_left(n, 4));
        puts_(o, ">");
    } else {
        put(o, from, n - (size_t)(from - tmp));
    }
}

/* -- texts, lists, maps ------------------------------------------------------------------------ */

/* Returns whether the bytes are characters to be shown; *utf8: of UTF-8, else of Latin-1. *wide:
 * some take more than a byte. `all`: they are the whole text, and not its beginning only. */
static bool is_text(const struct term_out *o, const unsigned char *p, size_t n, bool all,
                    bool *utf8, bool *wide)
{
    unsigned c;
    bool shown = n > 0;
    size_t i = 0;
    *utf8 = true;
    *wide = false;
    while (i < n) {
        const size_t len = character(p + i, n - i, &c);
        if (len == 0 && (all || n - i >= 4))
            break;
        if (len == 0)
            return shown;
        shown = shown && printable(o, c);
        *wide = *wide || len > 1;
        i += len;
    }
    if (i == n || o->elixir)
        return i == n && shown;
    *utf8 = *wide = false;
    for (i = 0; i < n && printable(o, p[i]); i++)
        ;
    return i == n;
}

static void text_binary(ErlNifEnv *env, ERL_NIF_TERM t, struct term_out *o)
{
    struct read_bytes b;
    bool utf8, wide;
    if (!read_binary(env, t, &b)) {
        puts_(o, "<<...>>");
        return;
    }
    const size_t look = size_min(b.kept, o->cap);
    if (b.size == 0) {
        put_either(o, "<<>>", "\"\"");
    } else if (is_text(o, b.data, look, look == b.size, &utf8, &wide)) {
        put_either(o, "<<", "");
        put_quoted(o, b.data, look, '"', utf8);
        o->cut = o->cut || look < b.size;
        put_either(o, wide ? "/utf8>>" : ">>", "");
    } else {
        puts_(o, "<<");
        for (size_t i = 0; i < look && !o->cut; i++) {
            char tmp[8];
            put_either(o, i ? "," : "", i ? ", " : "");
            put(o, tmp, clamp(snprintf(tmp, sizeof tmp, "%u", b.data[i]), sizeof tmp));
        }
        o->cut = o->cut || look < b.size;
        puts_(o, ">>");
    }
}

static bool is_end(ErlNifEnv *env, ERL_NIF_TERM tail)
{
    return read_is_word(tail) && enif_is_empty_list(env, tail);
}

/* Returns whether the list is a proper one of printable characters, as far as it was kept,
 * examining only as much as could be shown. */
static bool is_string(ErlNifEnv *env, ERL_NIF_TERM t, struct term_out *o)
{
    ERL_NIF_TERM head, tail = t;
    unsigned n = 0, c;
    while (n < o->cap && o->scan > 0 && read_cell(env, tail, &head, &tail)) {
        o->scan--;
        o->looked++;
        if (!read_is_word(head) || !enif_get_uint(env, head, &c) || c > (o->elixir ? 126 : 255) ||
            !printable(o, c))
            return false;
        n++;
    }
    return n > 0 && (n == o->cap || is_end(env, tail) || read_is_cut(tail));
}

/* Returns whether the list is a proper one of pairs that Elixir writes as [key: value]. */
static bool is_keywords(ErlNifEnv *env, ERL_NIF_TERM t, struct term_out *o)
{
    ERL_NIF_TERM head, tail = t;
    const ERL_NIF_TERM *e;
    size_t chars = 0; /* at least so many are written */
    int n;
    for (; chars < o->cap && o->scan > 0 && read_cell(env, tail, &head, &tail); o->scan--)
        if (read_tuple(env, head, &n, &e) && n == 2 && is_key(env, e[0], o))
            chars += 4;
        else
            return false;
    return chars >= o->cap || is_end(env, tail) || read_is_cut(tail);
}

static void text_term(ErlNifEnv *env, ERL_NIF_TERM t, struct term_out *o, unsigned depth);

/* Puts the value of a key. */
static void text_value(ErlNifEnv *env, ERL_NIF_TERM key, ERL_NIF_TERM value, struct term_out *o,
                       unsigned depth)
{
    if (redact_key(env, o->view, key, &o->looked))
        puts_(o, REDACTED);
    else
        text_term(env, value, o, depth);
}

static void text_comma(struct term_out *o, bool first)
{
    if (!first)
        put_either(o, ",", ", ");
}

static void text_list(ErlNifEnv *env, ERL_NIF_TERM t, struct term_out *o, unsigned depth)
{
    ERL_NIF_TERM head, tail = t, before = 0;
    const ERL_NIF_TERM *e;
    unsigned c;
    int n;
    if (read_is_word(t)) {
        puts_(o, "[]");
        return;
    }
    const bool arguments = depth == 0 && o->arguments;
    if (!arguments && is_string(env, t, o)) {
        put_either(o, "\"", "~c\"");
        while (!o->cut && read_cell(env, tail, &head, &tail)) {
            enif_get_uint(env, head, &c);
            put_char(o, c, '"');
        }
        o->cut = o->cut || read_is_cut(tail);
        puts_(o, "\"");
        return;
    }
    const bool keywords = o->elixir && !arguments && is_keywords(env, t, o);
    puts_(o, "[");
    for (bool first = true; !o->cut && read_cell(env, tail, &head, &tail); first = false) {
        text_comma(o, first);
        const bool hidden = !first && redact_behind(env, o->view, before, &o->looked);
        before = head;
        if (hidden) {
            puts_(o, REDACTED);
        } else if (keywords && read_tuple(env, head, &n, &e) && n == 2 && read_is_word(e[0]) &&
                   enif_is_atom(env, e[0])) {
            text_atom(env, e[0], o, true);
            text_value(env, e[0], e[1], o, depth + 1);
        } else {
            text_term(env, head, o, depth + 1);
        }
    }
    if (!o->cut && read_is_cut(tail)) {
        puts_(o, ",");
        o->cut = true;
    }
    if (!o->cut && !is_end(env, tail)) {
        put_either(o, "|", " | ");
        text_value(env, before, tail, o, depth + 1);
    }
    puts_(o, "]");
}

/* What Elixir makes of a map's keys. */
struct map_keys {
    bool all;          /* it writes them all as `key:` */
    ERL_NIF_TERM name; /* the atom of a struct's module; 0: it is no struct */
    ERL_NIF_TERM key;  /* __struct__ */
};

static struct map_keys keys_of(ErlNifEnv *env, ERL_NIF_TERM t, struct term_out *o)
{
    struct map_keys is = {.all = true};
    struct read_pairs it;
    ERL_NIF_TERM k, v;
    char name[16];
    if (!read_pairs_begin(env, t, &it))
        return is;
    while (read_pairs_next(&it, &k, &v)) {
        is.all = is.all && is_key(env, k, o);
        if (read_is_word(k) && enif_get_atom(env, k, name, sizeof name, ERL_NIF_LATIN1) > 0 &&
            strcmp(name, "__struct__") == 0 && read_is_word(v) && enif_is_atom(env, v)) {
            is.name = v;
            is.key = k;
        }
    }
    read_pairs_end(&it);
    return is;
}

static void text_map(ErlNifEnv *env, ERL_NIF_TERM t, struct term_out *o, unsigned depth)
{
    struct read_pairs it;
    ERL_NIF_TERM k, v;
    struct map_keys is = {0};
    bool first = true;
    if (!read_pairs_begin(env, t, &it)) {
        put_either(o, "#{...}", "%{...}");
        return;
    }
    if (o->elixir)
        is = keys_of(env, t, o);
    put_either(o, "#", "%");
    if (is.all && is.name != 0) {
        char name[TERM_ATOM];
        const int len = term_atom_utf8(env, is.name, name, sizeof name);
        if (len >= 0 && is_alias(name, (size_t)len))
            text_atom(env, is.name, o, false);
        else
            is.name = 0;
    } else {
        is.name = 0;
    }
    puts_(o, "{");
    while (!o->cut && read_pairs_next(&it, &k, &v)) {
        if (is.name != 0 && k == is.key)
            continue;
        text_comma(o, first);
        first = false;
        if (is.all) {
            text_atom(env, k, o, true);
        } else {
            text_term(env, k, o, depth + 1);
            puts_(o, " => ");
        }
        text_value(env, k, v, o, depth + 1);
    }
    read_pairs_end(&it);
    puts_(o, "}");
}

/* Puts a tuple. Erlang writes one that is a known record with the names of its fields, as its shell
 * does. */
static void text_tuple(ErlNifEnv *env, ERL_NIF_TERM t, struct term_out *o, unsigned depth)
{
    const ERL_NIF_TERM *e;
    int n;
    if (!read_tuple(env, t, &n, &e))
        n = 0;
    const struct known_record *r = records_find(o->view, e, n);
    const bool named = r != NULL && !o->elixir && !records_is_old(o->view, e[0]);
    if (named) {
        puts_(o, "#");
        text_atom(env, e[0], o, false);
    }
    puts_(o, "{");
    for (int i = named ? 1 : 0; i < n && !o->cut; i++) {
        text_comma(o, i == (named ? 1 : 0));
        if (named) {
            text_atom(env, r->field[i - 1].name, o, false);
            puts_(o, " = ");
        }
        if (record_hides(r, i) || redact_element(env, o->view, e, (size_t)i, &o->looked))
            puts_(o, REDACTED);
        else
            text_term(env, e[i], o, depth + 1);
    }
    puts_(o, "}");
}

/* Puts a native record. Elixir (1.20) knows none, and leaves them with all that is in them to
 * Erlang. */
static void text_record(ErlNifEnv *env, ERL_NIF_TERM t, struct term_out *o, unsigned depth)
{
    struct read_record r;
    ERL_NIF_TERM key, value;
    const bool elixir = o->elixir;
    if (!read_record(t, &r))
        return;
    o->elixir = false;
    puts_(o, "#");
    text_atom(env, r.module, o, false);
    puts_(o, ":");
    text_atom(env, r.name, o, false);
    puts_(o, "{");
    for (size_t i = 0; i < r.n && !o->cut; i++) {
        text_comma(o, i == 0);
        if (!read_field(&r, i, &key, &value)) {
            puts_(o, "...");
            break;
        }
        text_atom(env, key, o, false);
        puts_(o, " = ");
        text_value(env, key, value, o, depth + 1);
    }
    puts_(o, "}");
    o->elixir = elixir;
}

/* Puts a term of which only its header is known. */
static void text_unknown(ERL_NIF_TERM t, struct term_out *o)
{
    char tmp[48];
    put(o, tmp,
        clamp(snprintf(tmp, sizeof tmp, "#unknown<%llx>", (unsigned long long)read_header(t)),
              sizeof tmp));
}

static void text_term(ErlNifEnv *env, ERL_NIF_TERM t, struct term_out *o, unsigned depth)
{
    if (o->cut)
        return;
    if (o->budget == 0 || read_is_cut(t)) {
        o->cut = true;
        return;
    }
    o->budget--;
    const int type = read_type(env, t);
    const bool nested = type == ERL_NIF_TERM_TYPE_LIST || type == ERL_NIF_TERM_TYPE_TUPLE ||
                        type == ERL_NIF_TERM_TYPE_MAP || type == READ_RECORD;
    if (nested && depth >= TERM_DEPTH) {
        puts_(o, "...");
        return;
    }
    switch (type) {
    case ERL_NIF_TERM_TYPE_ATOM: text_atom(env, t, o, false); break;
    case ERL_NIF_TERM_TYPE_PID: text_emulator(t, o, "#PID"); break;
    case ERL_NIF_TERM_TYPE_PORT: text_emulator(t, o, "#Port"); break;
    case ERL_NIF_TERM_TYPE_REFERENCE: text_emulator(t, o, "#Reference"); break;
    case ERL_NIF_TERM_TYPE_FUN: text_emulator(t, o, "#Function"); break;
    case ERL_NIF_TERM_TYPE_INTEGER:
    case ERL_NIF_TERM_TYPE_FLOAT: text_number(env, t, o); break;
    case ERL_NIF_TERM_TYPE_BITSTRING: text_binary(env, t, o); break;
    case ERL_NIF_TERM_TYPE_LIST: text_list(env, t, o, depth); break;
    case ERL_NIF_TERM_TYPE_MAP: text_map(env, t, o, depth); break;
    case ERL_NIF_TERM_TYPE_TUPLE: text_tuple(env, t, o, depth); break;
    case READ_RECORD: text_record(env, t, o, depth); break;
    default: text_unknown(t, o); break;
    }
}

size_t term_shown(ErlNifEnv *env, ERL_NIF_TERM t, unsigned form, const struct terms_view *view,
                  char *out, size_t cap, uint64_t *looked)
{
    static const char cut[] = "...";
    struct term_out o = {.p = out,
                         .cap = size_left(cap, 1),
                         .budget = TERM_NODES,
                         .view = view,
                         .elixir = (form & TERM_ELIXIR) != 0,
                         .arguments = (form & TERM_ARGUMENTS) != 0};
    if (cap == 0)
        return 0;
    /* A list that turns out not to be a text was examined in vain, perhaps once per node: all such
     * scans together take no longer than the text. */
    o.scan = size_add(size_mul(o.cap, 2), TERM_NODES);
    text_term(env, t, &o, 0);
    *looked += o.looked + o.len + (TERM_NODES - o.budget) * LOOKS_NODE;
    if (o.cut) { /* overwrites the end of the text where it needs room, never a part of a character
                  */
        const size_t dots = size_min(sizeof cut - 1, o.cap), was = o.len;
        o.len = size_min(o.len, o.cap - dots);
        while (o.len > 0 && o.len < was && (out[o.len] & 0xc0) == 0x80)
            o.len--;
        memcpy(out + o.len, cut, dots);
        o.len += dots;
    }
    out[o.len] = 0;
    return o.len;
}

size_t term_text(ErlNifEnv *env, ERL_NIF_TERM t, char *out, size_t cap, uint64_t *looked)
{
    return term_shown(env, t, TERM_ERLANG, NULL, out, cap, looked);
}
