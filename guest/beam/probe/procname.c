/* procname.c - see procname.h. */
#include "beam/probe/procname.h"

#include <stdio.h>
#include <string.h>

#include "base/hash.h"
#include "beam/probe/dictionary.h"
#include "beam/probe/term_read.h"
#include "beam/tracer.h"

enum {
    NAMES = 1 << 17,     /* processes named at a time */
    READ_TRIES = 4,      /* of a reader whose record changes */
    WRITER_TRIES = 1000, /* looks at another writer's lock: it is held for some 50 ns */
    ASKED = 256,         /* processes that are looked up again at a time */
    START_ARGS = 7,      /* arguments of a start function that are examined */
};

/* Where a name comes from; a better one replaces it. FUN: of a fun that began the process, or of
 * the oldest function on its stack. */
enum rank { NOTHING, FUN, START, LABEL, NAME };

/* What is known of a process. */
struct known {
    uint64_t pid;
    uint64_t number;     /* of the pid as text, see number_of */
    uint64_t registered; /* an atom, 0: not registered */
    uint32_t epoch;      /* it was learned in */
    uint16_t rank;       /* of the text */
    bool secret;         /* it is that of a term, and not only of an atom */
    uint8_t len;
    char text[PROCNAME_TEXT];
};
enum {
    WORDS = sizeof(struct known) / sizeof(uint64_t),
    HEAD_WORDS = offsetof(struct known, text) / sizeof(uint64_t)
};
_Static_assert(sizeof(struct known) == WORDS * sizeof(uint64_t) &&
                   offsetof(struct known, text) == HEAD_WORDS * sizeof(uint64_t),
               "copied by the word");

struct record {
    _Atomic uint32_t version; /* copy[version & 1] is valid */
    _Atomic uint32_t busy;    /* 1: a thread writes it */
    _Atomic uint64_t gone;    /* the pid that has exited */
    _Atomic uint64_t copy[2][WORDS];
};

static _Atomic uint64_t asked[ASKED];
static _Atomic uint32_t looks; /* how often the server has taken them */
/* Processes whose dictionaries wait to be counted, agent.nlarge of them, and those whose were
 * small. The server sets what is 0 and takes it back; only an event of the process itself takes it.
 */
static _Atomic uint64_t large[ASKED], small[ASKED];
static _Atomic uint32_t epoch; /* what was learned in an earlier one is forgotten */

static struct proctab *table(void)
{
    return atomic_load_explicit(&agent.names, memory_order_acquire);
}

/* From the number of a pid to its word: how the two belong together is the VM's own affair. */
static struct proctab *numbers(void)
{
    return atomic_load_explicit(&agent.numbers, memory_order_acquire);
}

/* -- records ----------------------------------------------------------------------------------- */

/* Copies the words of a record from one to another. */
static inline void load_words(const struct record *r, uint32_t version, struct known *k,
                              unsigned from, unsigned to)
{
    uint64_t word[WORDS];
    for (unsigned i = from; i < to; i++)
        word[i] = atomic_load_explicit(&r->copy[version & 1][i], memory_order_relaxed);
    memcpy((char *)k + from * sizeof *word, word + from, (to - from) * sizeof *word);
}

static void load(const struct record *r, uint32_t version, struct known *k)
{
    load_words(r, version, k, 0, WORDS);
}

/* Returns whether that is known of this process, and now. */
static bool is_of(const struct known *k, ERL_NIF_TERM pid)
{
    return k->pid == pid && k->epoch == atomic_load_explicit(&epoch, memory_order_relaxed);
}

/* Returns false when nothing is known of the process. Of a text it reads as much as there is, and
 * none where the process is registered: nobody is shown it then. */
static bool known_read(ERL_NIF_TERM pid, struct known *k)
{
    const struct record *r = proctab_find(table(), pid);
    for (unsigned i = 0; r && i < READ_TRIES; i++) {
        uint32_t version = atomic_load_explicit(&r->version, memory_order_acquire);
        load_words(r, version, k, 0, HEAD_WORDS);
        if (k->registered == 0 && k->len < PROCNAME_TEXT)
            load_words(r, version, k, HEAD_WORDS, HEAD_WORDS + (k->len + 7u) / 8u);
        atomic_thread_fence(memory_order_acquire);
        if (atomic_load_explicit(&r->version, memory_order_relaxed) != version)
            continue;
        if (k->registered != 0)
            k->len = 0;
        return is_of(k, pid) && k->len < PROCNAME_TEXT;
    }
    return false;
}

/* Takes a record for writing. Writers of one record are the two or three events that tell of one
 * process (its birth, its registration), and the server; no event of another process touches it, so
 * schedulers do not share this as they would a lock of the table. It is given up after a bounded
 * number of looks, whatever has become of the other writer, and readers never look at it. Without
 * it, a writer would have to change a name and its length by compare-and-swap of a whole copy, that
 * is, by an allocation at an event. */
static bool lock(struct record *r)
{
    for (unsigned i = 0; i < WRITER_TRIES; i++) {
        uint32_t none = 0;
        if (atomic_load_explicit(&r->busy, memory_order_relaxed) == 0 &&
            atomic_compare_exchange_strong_explicit(&r->busy, &none, 1, memory_order_acquire,
                                                    memory_order_relaxed))
            return true;
    }
    return false;
}

/* Returns the record of a process for changing it, and what is known: nothing, if it is new. NULL:
 * there is no room. */
static struct record *open_record(struct record *r, ERL_NIF_TERM pid, struct known *k)
{
    if (!r || !lock(r))
        return NULL;
    load(r, atomic_load_explicit(&r->version, memory_order_relaxed), k);
    if (!is_of(k, pid))
        *k =
            (struct known){.pid = pid, .epoch = atomic_load_explicit(&epoch, memory_order_relaxed)};
    return r;
}

static void close_record(struct record *r, const struct known *k)
{
    uint64_t word[WORDS];
    uint32_t version = atomic_load_explicit(&r->version, memory_order_relaxed) + 1;
    memcpy(word, k, sizeof *k);
    /* Whoever sees a word of this also sees that the copy is no longer the valid one. */
    atomic_thread_fence(memory_order_release);
    for (unsigned i = 0; i < WORDS; i++)
        atomic_store_explicit(&r->copy[version & 1][i], word[i], memory_order_relaxed);
    atomic_store_explicit(&r->version, version, memory_order_release);
    atomic_store_explicit(&r->busy, 0, memory_order_release);
}

static bool has_exited(const void *record, uint64_t pid)
{
    const struct record *r = record;
    return atomic_load_explicit(&r->gone, memory_order_relaxed) == pid;
}

/* -- processes and ports ----------------------------------------------------------------------- */

static bool is_port(ErlNifEnv *env, ERL_NIF_TERM t)
{
    ErlNifPort port;
    return event_is_word(t) && enif_get_local_port(env, t, &port);
}

/* Returns whether a term is a process or a port of this node. */
static bool is_ours(ErlNifEnv *env, ERL_NIF_TERM t)
{
    ErlNifPid pid;
    return (event_is_word(t) && enif_get_local_pid(env, t, &pid)) || is_port(env, t);
}

static bool is_alive(ErlNifEnv *env, ERL_NIF_TERM t)
{
    ErlNifPid pid;
    ErlNifPort port;
    return enif_get_local_pid(env, t, &pid)
               ? enif_is_process_alive(env, &pid)
               : enif_get_local_port(env, t, &port) && enif_is_port_alive(env, &port);
}

/* Returns whether a process or port has this registered name now. */
static bool is_registered(ErlNifEnv *env, ERL_NIF_TERM t, ERL_NIF_TERM name)
{
    ErlNifPid pid;
    ErlNifPort port;
    return is_port(env, t)
               ? enif_whereis_port(env, name, &port) != 0 && port.port_id == t
               : enif_whereis_pid(env, name, &pid) != 0 && enif_make_pid(env, &pid) == t;
}

/* -- numbers ----------------------------------------------------------------------------------- */

enum { DIGITS = 10 };
static const char port_head[] = "#Port<0.";
#define PORT_NUMBER (UINT64_C(1) << 63) /* in the number of a port, and of no pid */

/* Reads digits. Returns false when there is none, or too many. */
static bool digits(const char **p, const char *end, uint64_t *v)
{
    const char *from = *p;
    for (*v = 0; *p < end && *p - from < DIGITS && **p >= '0' && **p <= '9'; ++*p)
        *v = *v * 10 + (uint64_t)(**p - '0');
    return *p > from;
}

/* Returns N and S of <0.N.S>, or N of #Port<0.N>, as one number, never 0; 0 for any other text. */
static uint64_t number_of(const char *text, size_t len)
{
    const size_t head = sizeof port_head - 1;
    const char *p = text + 3, *end = text + len;
    uint64_t n, serial;
    if (len > head && memcmp(text, port_head, head) == 0) {
        p = text + head;
        return digits(&p, end, &n) && p + 1 == end && *p == '>' ? PORT_NUMBER | n : 0;
    }
    if (len < sizeof "<0.0.0>" - 1 || memcmp(text, "<0.", 3) != 0 || !digits(&p, end, &n) ||
        p == end || *p++ != '.' || !digits(&p, end, &serial) || p + 1 != end || *p != '>' ||
        n >= INT32_MAX || serial > UINT32_MAX)
        return 0;
    return (n + 1) << 32 | serial;
}

static ERL_NIF_TERM pid_of(const void *number)
{
    return atomic_load_explicit((const _Atomic uint64_t *)number, memory_order_relaxed);
}

/* Returns whether the process of a number is no longer named. */
static bool is_over(const void *number, uint64_t key)
{
    const ERL_NIF_TERM pid = pid_of(number);
    const struct record *r = proctab_find(table(), pid);
    (void)key;
    return !r || has_exited(r, pid);
}

static uint64_t note_number(ErlNifEnv *env, ERL_NIF_TERM pid)
{
    char text[TERM_TEXT];
    uint64_t number = number_of(text, term_simple(env, pid, text, sizeof text));
    _Atomic uint64_t *at = number ? proctab_share(numbers(), number, is_over) : NULL;
    if (at)
        atomic_store_explicit(at, pid, memory_order_relaxed);
    return number;
}

/* -- changes ----------------------------------------------------------------------------------- */

static struct record *claim(ErlNifEnv *env, ERL_NIF_TERM pid, struct known *k)
{
    struct record *r = open_record(proctab_share(table(), pid, has_exited), pid, k);
    if (!r)
        atomic_fetch_add_explicit(&agent.lost_names, 1, memory_order_relaxed);
    else if (k->number == 0)
        k->number = note_number(env, pid);
    return r;
}

static void set_registered(ErlNifEnv *env, ERL_NIF_TERM pid, ERL_NIF_TERM name)
{
    struct known k;
    struct record *r = claim(env, pid, &k);
    if (!r)
        return;
    k.registered = name;
    close_record(r, &k);
}

static void clear_registered(ERL_NIF_TERM pid)
{
    struct known k;
    struct record *r = open_record(proctab_find(table(), pid), pid, &k);
    if (!r)
        return;
    k.registered = 0;
    close_record(r, &k);
}

/* -- texts ------------------------------------------------------------------------------------- */

/* Copies n bytes, cut with ".." between two characters where they do not fit. Returns the length.
 */
static uint8_t fit(const char *s, size_t n, char *out)
{
    size_t len = n;
    if (n >= PROCNAME_TEXT) {
        len = PROCNAME_TEXT - 3;
        while (len > 0 && ((unsigned char)s[len] & 0xc0) == 0x80)
            len--;
    }
    memcpy(out, s, len);
    if (len < n) {
        memcpy(out + len, "..", 2);
        len += 2;
    }
    out[len] = '\0';
    return (uint8_t)len;
}

/* Notes a text, unless a better one is known. Labels and names change, beginnings do not. */
static void set_text(ErlNifEnv *env, ERL_NIF_TERM pid, enum rank rank, bool secret, const char *s,
                     size_t n)
{
    struct known k;
    struct record *r = claim(env, pid, &k);
    if (!r)
        return;
    if (rank > k.rank || (rank == k.rank && rank >= LABEL)) {
        memset(k.text, 0, sizeof k.text);
        k.rank = (uint16_t)rank;
        k.secret = secret;
        k.len = fit(s, n, k.text);
    }
    close_record(r, &k);
}

/* Writes `scope(name)`, the scope being an atom. */
static size_t scoped(ErlNifEnv *env, ERL_NIF_TERM scope, ERL_NIF_TERM name, char *out, size_t cap)
{
    size_t n =
        term_atom(env, scope, out, cap - 2) ? strlen(out) : term_simple(env, scope, out, cap - 2);
    out[n++] = '(';
    n += term_text(env, name, out + n, cap - 1 - n, &(uint64_t){0});
    out[n++] = ')';
    out[n] = '\0';
    return n;
}

/* Notes {global, Name} or {via, Module, Name}. The Name of a registry is {Registry, Key}, that of
 * Elixir's also {Registry, Key, Value}. */
static void set_name(ErlNifEnv *env, ERL_NIF_TERM pid, ERL_NIF_TERM name)
{
    const ERL_NIF_TERM *e, *key;
    char text[TERM_TEXT];
    int n, parts;
    if (!enif_get_tuple(env, name, &n, &e) || n < 2 || n > 3 || !enif_is_atom(env, e[0]) ||
        !enif_is_atom(env, e[n - 2]) || e[0] != (n == 2 ? agent.atom.global : agent.atom.via))
        return;
    ERL_NIF_TERM scope = e[n - 2], of = e[n - 1];
    if (n == 3 && enif_get_tuple(env, of, &parts, &key) && enif_is_atom(env, key[0]) &&
        (parts == 2 || (parts == 3 && scope == agent.atom.elixir_registry))) {
        scope = key[0];
        of = key[1];
    }
    set_text(env, pid, NAME, !enif_is_atom(env, of), text,
             scoped(env, scope, of, text, sizeof text));
}

static void set_label(ErlNifEnv *env, ERL_NIF_TERM pid, ERL_NIF_TERM label)
{
    char text[TERM_TEXT];
    size_t n = term_string(env, label, NULL, text, sizeof text, &(uint64_t){0});
    if (n == 0)
        n = term_text(env, label, text, sizeof text, &(uint64_t){0});
    set_text(env, pid, LABEL, !enif_is_atom(env, label), text, n);
}

static void set_function(ErlNifEnv *env, ERL_NIF_TERM pid, enum rank rank, ERL_NIF_TERM m,
                         ERL_NIF_TERM f, unsigned arity)
{
    char text[TERM_TEXT];
    if (enif_is_atom(env, m) && enif_is_atom(env, f))
        set_text(env, pid, rank, false, text, term_mfa(env, m, f, arity, text, sizeof text));
}

static bool is_fun(ErlNifEnv *env, ERL_NIF_TERM t)
{
    return read_type(env, t) == ERL_NIF_TERM_TYPE_FUN;
}

/* Notes a fun: "m:fun-2", where the emulator prints #Fun<m.2.123>. It examines no more of a fun. */
static void set_fun(ErlNifEnv *env, ERL_NIF_TERM pid, ERL_NIF_TERM fun)
{
    char text[TERM_TEXT], out[TERM_TEXT];
    static const char head[] = "#Fun<";
    if (!is_fun(env, fun))
        return;
    int n = enif_snprintf(text, sizeof text, "%T", fun);
    char *index = NULL, *unique = NULL;
    text[sizeof text - 1] = '\0';
    for (char *p = text; *p; p++)
        if (*p == '.') {
            index = unique;
            unique = p;
        }
    if (n <= 0 || strncmp(text, head, sizeof head - 1) != 0 || !index) { /* fun m:f/1 */
        set_text(env, pid, FUN, false, text, strlen(text));
        return;
    }
    *index = *unique = '\0';
    n = snprintf(out, sizeof out, "%s:fun-%s", text + sizeof head - 1, index + 1);
    set_text(env, pid, FUN, false, out, n > 0 && (size_t)n < sizeof out ? (size_t)n : strlen(out));
}

/* -- beginnings -------------------------------------------------------------------------------- */

/* A function and the first of its arguments. */
struct start {
    ERL_NIF_TERM m, f;
    unsigned arity;
    ERL_NIF_TERM a[START_ARGS];
};

/* Reads a function and a list. Returns false when that is not a function's call. */
static bool start_of(ErlNifEnv *env, ERL_NIF_TERM m, ERL_NIF_TERM f, ERL_NIF_TERM list,
                     struct start *s)
{
    ERL_NIF_TERM head;
    *s = (struct start){.m = m, .f = f};
    for (; s->arity < 256 && enif_get_list_cell(env, list, &head, &list); s->arity++)
        if (s->arity < START_ARGS)
            s->a[s->arity] = head;
    return enif_is_empty_list(env, list) && enif_is_atom(env, m) && enif_is_atom(env, f);
}

/* Notes a process that gen started: init_it(Gen, Starter, Parent [, Name], Module, Args, Options).
 */
static void begun_by_gen(ErlNifEnv *env, ERL_NIF_TERM pid, const struct start *s)
{
    const struct atoms *a = &agent.atom;
    const ERL_NIF_TERM module = s->a[s->arity - 3], args = s->a[s->arity - 2], *e;
    ERL_NIF_TERM head, tail;
    int n;
    if (s->arity == 7)
        set_name(env, pid, s->a[3]);
    if (s->a[0] == a->gen_event)
        set_function(env, pid, START, a->gen_event, s->f, 6);
    else if (module == a->supervisor && enif_get_tuple(env, args, &n, &e) && n == 3)
        set_function(env, pid, START, module, e[1], 1);
    else if (module == a->supervisor_bridge && enif_get_list_cell(env, args, &head, &tail))
        set_function(env, pid, START, module, head, 1);
    else
        set_function(env, pid, START, module, a->init, 1);
}

/* Notes the function that a process begins with: {M, F, Args}, or {M, F, Arity} as another node has
 * it; of the fun that such a process may have been spawned with the event says nothing. */
static void begun(ErlNifEnv *env, ERL_NIF_TERM pid, ERL_NIF_TERM mfa)
{
    const struct atoms *a = &agent.atom;
    const ERL_NIF_TERM *e;
    ERL_NIF_TERM m, f;
    unsigned arity;
    struct start s;
    int n;
    mfa = event_start(env, mfa);
    if (read_mfa(mfa, &m, &f, &arity)) {
        if (m != a->erlang || f != a->apply)
            set_function(env, pid, START, m, f, arity);
        return;
    }
    if (!enif_get_tuple(env, mfa, &n, &e) || n != 3 || !start_of(env, e[0], e[1], e[2], &s))
        return;
    if (s.m == a->proc_lib && s.f == a->init_p && s.arity == 3) /* Parent, Ancestors, Fun */
        set_fun(env, pid, s.a[2]);
    else if (s.m == a->erlang && s.f == a->apply && s.arity == 2 && is_fun(env, s.a[0]))
        set_fun(env, pid, s.a[0]);
    else if (s.m != a->proc_lib || s.f != a->init_p || s.arity != 5) /* ..., M, F, Args */
        set_function(env, pid, START, s.m, s.f, s.arity);
    else if (!start_of(env, s.a[2], s.a[3], s.a[4], &s))
        ;
    else if (s.m == a->gen && s.f == a->init_it && (s.arity == 6 || s.arity == 7))
        begun_by_gen(env, pid, &s);
    else
        set_function(env, pid, START, s.m, s.f, s.arity);
}

/* -- events ------------------------------------------------------------------------------------ */

static void child(ErlNifEnv *env, ERL_NIF_TERM pid, ERL_NIF_TERM opts)
{
    ERL_NIF_TERM mfa;
    struct known k;
    if (is_ours(env, pid) && !known_read(pid, &k) &&
        enif_get_map_value(env, opts, agent.atom.extra, &mfa))
        begun(env, pid, mfa);
}

static void exited(ERL_NIF_TERM pid)
{
    struct record *r = proctab_find(table(), pid);
    if (r)
        atomic_store_explicit(&r->gone, pid, memory_order_relaxed);
}

void procname_event(ErlNifEnv *env, const ERL_NIF_TERM argv[])
{
    const struct atoms *a = &agent.atom;
    if (argv[0] == a->spawn) /* the parent's event comes first */
        child(env, argv[3], argv[4]);
    else if (argv[0] == a->spawned)
        child(env, argv[2], argv[4]);
    else if (argv[0] == a->register_ && is_ours(env, argv[2]) && enif_is_atom(env, argv[3]))
        set_registered(env, argv[2], argv[3]);
    else if (argv[0] == a->unregister && is_ours(env, argv[2]) && is_alive(env, argv[2]))
        clear_registered(argv[2]);
    else if ((argv[0] == a->exit || argv[0] == a->closed) && is_ours(env, argv[2]))
        exited(argv[2]);
}

/* -- looking up -------------------------------------------------------------------------------- */

static unsigned slot_of(ERL_NIF_TERM pid)
{
    return (unsigned)(hash_mix(pid, 0x9e3779b97f4a7c15u) % ASKED);
}

/* Has the server look once more, if that can help. Two processes in one slot, of which programs
 * name the same one first each time, are in different ones after the next look. */
static void ask_again(ERL_NIF_TERM pid, enum rank rank)
{
    const uint32_t look = atomic_load_explicit(&looks, memory_order_relaxed);
    _Atomic uint64_t *slot = &asked[slot_of(pid ^ hash_mix(look, 0xa0761d6478bd642fu))];
    if (rank < NAME && atomic_load_explicit(slot, memory_order_relaxed) == 0)
        atomic_store_explicit(slot, pid, memory_order_relaxed);
}

/* Writes what is known of a process, see procname_text. */
static size_t write_name(ErlNifEnv *env, const struct known *k, bool hidden, char *out)
{
    char atom[TERM_ATOM];
    if (k->registered && term_atom(env, (ERL_NIF_TERM)k->registered, atom, sizeof atom))
        return fit(atom, strlen(atom), out);
    ask_again((ERL_NIF_TERM)k->pid, (enum rank)k->rank);
    if (hidden && k->len > 0 && k->secret)
        return 0;
    memcpy(out, k->text, k->len);
    out[k->len] = '\0';
    return k->len;
}

size_t procname_text(ErlNifEnv *env, ERL_NIF_TERM pid, bool hidden, char *out)
{
    struct known k;
    if (!is_ours(env, pid))
        return 0;
    if (!known_read(pid, &k))
        k = (struct known){.pid = pid};
    return write_name(env, &k, hidden, out);
}

size_t procname_of_text(ErlNifEnv *env, const char *text, size_t len, bool hidden, char *out)
{
    struct known k;
    uint64_t number = number_of(text, len);
    const void *at = number ? proctab_find(numbers(), number) : NULL;
    /* Its slot may just be changing hands: what is known of the process has its number. */
    return at && known_read(pid_of(at), &k) && k.number == number ? write_name(env, &k, hidden, out)
                                                                  : 0;
}

/* -- dictionaries ------------------------------------------------------------------------------ */

/* Also notes the process itself, of which nothing else may be known: a program may name it by its
 * text. */
static void mark_large(ErlNifEnv *env, ERL_NIF_TERM pid)
{
    struct known k;
    struct record *r = claim(env, pid, &k);
    uint64_t none = 0;
    if (r)
        close_record(r, &k);
    if (atomic_compare_exchange_strong(&large[slot_of(pid)], &none, pid))
        atomic_fetch_add(&agent.nlarge, 1);
}

/* Returns whether the process was marked. */
static bool unmark_large(ERL_NIF_TERM pid)
{
    uint64_t marked = pid;
    if (pid == 0 || !atomic_compare_exchange_strong(&large[slot_of(pid)], &marked, 0))
        return false;
    atomic_fetch_sub(&agent.nlarge, 1);
    return true;
}

void procname_count(ErlNifEnv *env, struct inside_thread *mine, ERL_NIF_TERM pid)
{
    const unsigned i = slot_of(pid);
    uint32_t words;
    if (atomic_load_explicit(&large[i], memory_order_relaxed) == pid &&
        inside_dictionary(env, mine, pid, &words) && unmark_large(pid) && words != DICTIONARY_LARGE)
        atomic_store_explicit(&small[i], pid, memory_order_relaxed);
}

static void forget_sizes(void)
{
    for (unsigned i = 0; i < ASKED; i++) {
        unmark_large((ERL_NIF_TERM)atomic_load(&large[i]));
        atomic_store(&small[i], 0);
    }
}

/* -- the server -------------------------------------------------------------------------------- */

/* Returns an empty table; NULL: out of memory. */
static struct proctab *emptied(_Atomic(struct proctab *) *at, size_t width)
{
    if (!atomic_load(at))
        atomic_store(at, proctab_new(NAMES, width));
    struct proctab *t = atomic_load(at);
    for (uint32_t i = 0; t && i < t->cap; i++)
        atomic_store_explicit(&t->key[i], 0, memory_order_relaxed);
    return t;
}

static bool forget_all(void)
{
    atomic_fetch_add(&epoch, 1);
    return emptied(&agent.numbers, sizeof(uint64_t)) &&
           emptied(&agent.names, sizeof(struct record));
}

/* Notes {Pid, What, Term}. */
static bool told(ErlNifEnv *env, ERL_NIF_TERM fact)
{
    const struct atoms *a = &agent.atom;
    const ERL_NIF_TERM *e, *f;
    ErlNifBinary text;
    unsigned arity;
    int n;
    if (!enif_get_tuple(env, fact, &n, &e) || n != 3 || !is_ours(env, e[0]))
        return false;
    if (e[1] == a->name)
        set_name(env, e[0], e[2]);
    else if (e[1] == a->label)
        set_label(env, e[0], e[2]);
    else if (e[1] == a->large)
        mark_large(env, e[0]);
    else if ((e[1] == a->start || e[1] == a->frame) && enif_get_tuple(env, e[2], &n, &f) &&
             n == 3 && enif_get_uint(env, f[2], &arity))
        set_function(env, e[0], e[1] == a->start ? START : FUN, f[0], f[1], arity);
    else if ((e[1] == a->port || e[1] == a->opened) && is_port(env, e[0]) &&
             enif_inspect_binary(env, e[2], &text))
        set_text(env, e[0], e[1] == a->port ? NAME : LABEL, false, (const char *)text.data,
                 text.size);
    else if (e[1] == a->registered && enif_is_atom(env, e[2]) && is_registered(env, e[0], e[2]))
        set_registered(env, e[0], e[2]); /* procname_sweep notices if it has just lost it */
    return true;
}

ERL_NIF_TERM procname_nif(ErlNifEnv *env, int argc, const ERL_NIF_TERM argv[])
{
    (void)argc;
    ERL_NIF_TERM head, list = argv[0];
    if (!agent_is_server(env))
        return enif_make_badarg(env);
    if (list == agent.atom.true_ || list == agent.atom.false_) {
        bool on = list == agent.atom.true_, room = !on || forget_all();
        atomic_store(&agent.naming, on && room);
        forget_sizes();
        return room ? agent.atom.ok : agent.atom.agent_memory;
    }
    while (atomic_load(&agent.naming) && enif_get_list_cell(env, list, &head, &list))
        if (!told(env, head))
            return enif_make_badarg(env);
    return agent.atom.ok;
}

/* Takes the processes out of the slots. */
static ERL_NIF_TERM taken(ErlNifEnv *env, _Atomic uint64_t slots[ASKED])
{
    ERL_NIF_TERM list = enif_make_list(env, 0);
    for (unsigned i = 0; i < ASKED; i++) {
        const uint64_t pid = atomic_exchange_explicit(&slots[i], 0, memory_order_relaxed);
        if (pid)
            list = enif_make_list_cell(env, (ERL_NIF_TERM)pid, list);
    }
    return list;
}

ERL_NIF_TERM procname_asked_nif(ErlNifEnv *env, int argc, const ERL_NIF_TERM argv[])
{
    (void)argc;
    (void)argv;
    if (!agent_is_server(env))
        return enif_make_badarg(env);
    atomic_fetch_add_explicit(&looks, 1, memory_order_relaxed);
    return taken(env, asked);
}

ERL_NIF_TERM procname_small_nif(ErlNifEnv *env, int argc, const ERL_NIF_TERM argv[])
{
    (void)argc;
    (void)argv;
    if (!agent_is_server(env))
        return enif_make_badarg(env);
    for (unsigned i = 0; i < ASKED; i++) {
        const ERL_NIF_TERM marked = (ERL_NIF_TERM)atomic_load(&large[i]);
        if (marked && !is_alive(env, marked))
            unmark_large(marked);
    }
    return taken(env, small);
}

/* Returns whether a process is alive, and takes back the name that it has lost unseen. */
static bool still_there(void *env, uint64_t pid)
{
    struct known k;
    if (!is_alive(env, pid))
        return false;
    if (known_read(pid, &k) && k.registered && !is_registered(env, pid, k.registered))
        clear_registered(pid);
    return true;
}

static bool still_numbered(void *env, uint64_t number)
{
    const void *at = proctab_find(numbers(), number);
    return at && is_alive(env, pid_of(at));
}

void procname_sweep(ErlNifEnv *env, uint32_t part, uint32_t parts)
{
    if (!table() || !numbers())
        return;
    proctab_sweep(table(), part, parts, still_there, env);
    proctab_sweep(numbers(), part, parts, still_numbered, env);
}

void procname_free(void)
{
    proctab_free(atomic_exchange(&agent.names, NULL));
    proctab_free(atomic_exchange(&agent.numbers, NULL));
}
