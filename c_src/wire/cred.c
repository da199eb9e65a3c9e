/* cred.c - reads certificates: given ones, or those of a node's configuration. See cred.h. */
#include "wire/cred.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/arena.h"
#include "base/err.h"
#include "wire/optfile.h"
#include "util/embedded.h"
#include "wire/proc.h"

enum {
    FILE_MAX = 1 << 20,    /* bytes of a file of certificates: all CAs of a system take 300 KB */
    OPTFILE_MAX = 1 << 16, /* bytes of a node's options file */
    ARGS_MAX = 1 << 18     /* bytes read of a command line */
};

/* -- what the user says ------------------------------------------------------------------------ */

static bool same(const char *a, const char *b)
{
    for (; *a && (*a == *b || (*a == '-' && *b == '_')); a++, b++)
        ;
    return *a == *b;
}

const char cred_static[] = "the static erltrace speaks no TLS; use an installed one (make install)";

bool cred_option(struct cred_options *o, const char *name, const char *value, const char **why)
{
    static const char *const verify[] = {
        [TLS_VERIFY_HOST] = "host", [TLS_VERIFY_CA] = "ca", [TLS_VERIFY_NONE] = "none"};
    const struct {
        const char *name, **file;
    } files[] = {{"cert", &o->cert}, {"key", &o->key}, {"cacert", &o->cacert}};
    *why = cred_static;
    if (embedded_static())
        return false;
    *why = "it takes the name of a file";
    for (size_t i = 0; i < sizeof files / sizeof files[0]; i++)
        if (same(name, files[i].name)) {
            *files[i].file = value;
            return o->on = value && value[0];
        }
    *why = "it takes no value";
    if (same(name, "from_node"))
        return o->on = o->from_node = !value;
    if (!same(name, "verify")) {
        *why =
            "there is no such TLS option: the options are cert, key, cacert, verify and from_node";
        return false;
    }
    *why = "it takes host, ca or none";
    for (enum tls_verify v = TLS_VERIFY_HOST; v <= TLS_VERIFY_NONE; v++)
        if (value && strcmp(value, verify[v]) == 0) {
            o->verify = v;
            return o->on = true;
        }
    return false;
}

/* -- files ------------------------------------------------------------------------------------- */

static const char *file_error(ssize_t e)
{
    return e == -EINVAL   ? "it is not a regular file"
           : e == -ESTALE ? "it belongs neither to the user of the process nor to root"
           : e == -ESRCH  ? "the process has ended"
           : e == -EFBIG  ? "it is too large"
           : e == -EXDEV  ? "it leads out of the root folder of the process"
                          : strerror((int)-e);
}

static const char give_files[] = "give certificates by --tls-cacert, --tls-cert and --tls-key";

static int no_file(const char *name, ssize_t e, const struct beam *b, struct tls_why *why)
{
    if (e == -ENOMEM)
        return ET_ENOMEM;
    if (b)
        snprintf(why->text, sizeof why->text, "%.200s, of the configuration of process %d: %s",
                 name, (int)b->pid, file_error(e));
    else
        snprintf(why->text, sizeof why->text, "%.200s: %s", name, file_error(e));
    if (b && (e == -EACCES || e == -EPERM))
        snprintf(why->help, sizeof why->help, "run erltrace as user %.64s, or %s", b->owner,
                 give_files);
    else if (b)
        snprintf(why->help, sizeof why->help, "%s", give_files);
    return ET_ENODE;
}

/* Reads the file that a process names, perhaps relative to its current folder. That folder's path
 * is known only as seen from here, so a process with another root must give an absolute path. */
static ssize_t named_file(const struct beam *b, int proc, const char *path, char *out, size_t cap)
{
    char at[1024];
    if (path[0] == '/')
        return proc_file(proc, b->uid, path, PROC_OWN_OR_ROOT, out, cap);
    ssize_t n = readlinkat(proc, "cwd", at, sizeof at / 2);
    if (n < 0)
        return -errno;
    snprintf(at + n, sizeof at - (size_t)n, "/%s", path);
    return proc_file(proc, b->uid, at, PROC_OWN_OR_ROOT, out, cap);
}

/* Reads a whole file; `b`: the process that names it, NULL: the user did. */
static int read_file(struct tls_file *f, const char *path, const struct beam *b,
                     struct tls_why *why)
{
    snprintf(f->name, sizeof f->name, "%s", path);
    int proc = b ? proc_open(b->pid, b->start) : -1;
    if (b && proc < 0)
        return no_file(path, -ESRCH, b, why);
    ssize_t n = -ENOMEM;
    if ((f->text = et_malloc(FILE_MAX)) != NULL)
        n = b ? named_file(b, proc, path, f->text, FILE_MAX) : own_file(path, f->text, FILE_MAX);
    if (n == FILE_MAX - 1)
        n = -EFBIG;
    if (proc >= 0)
        close(proc);
    f->len = n > 0 ? (size_t)n : 0;
    return n < 0 ? no_file(path, n, b, why) : 0;
}

static void free_file(struct tls_file *f)
{
    if (f->text)
        explicit_bzero(f->text, f->len);
    et_free(f->text);
    *f = (struct tls_file){0};
}

/* -- a node's configuration -------------------------------------------------------------------- */

/* Returns the next argument that is Erlang's rather than the emulator's; NULL: there is none. */
static const char *next_argument(const char **p, const char *end)
{
    const char *a = *p;
    if (a >= end || strcmp(a, "-extra") == 0)
        return NULL;
    *p += strlen(a) + 1;
    return a;
}

/* Reads the client's options in a command line; returns the path of its options file, NULL: it has
 * none. */
static const char *read_arguments(struct optfile *o, const char *p, const char *end)
{
    const char *flag = "", *file = NULL, *name = NULL;
    bool ours = false;
    for (const char *a; (a = next_argument(&p, end)) != NULL;) {
        if (strcmp(a, "--") == 0) {
            ours = true;
            flag = "";
        } else if (a[0] == '-') {
            flag = ours ? a : "";
            name = NULL;
        } else if (strcmp(flag, "-ssl_dist_optfile") == 0 && !file) {
            file = a;
        } else if (strcmp(flag, "-ssl_dist_opt") == 0) {
            if (name)
                optfile_argument(o, name, a);
            name = name ? NULL : a;
        }
    }
    return file;
}

static int read_optfile(struct optfile *o, const struct beam *b, int proc, const char *path,
                        struct tls_why *why)
{
    char reason[120];
    char *text = et_malloc(OPTFILE_MAX);
    if (!text)
        return ET_ENOMEM;
    ssize_t n = named_file(b, proc, path, text, OPTFILE_MAX);
    if (n == OPTFILE_MAX - 1)
        n = -EFBIG;
    int e =
        n < 0 ? no_file(path, n, b, why) : optfile_read(o, text, (size_t)n, reason, sizeof reason);
    if (e == ET_EINVAL) {
        snprintf(why->text, sizeof why->text, "%.160s: %s", path, reason);
        snprintf(why->help, sizeof why->help, "%s", give_files);
        e = ET_ENODE;
    }
    explicit_bzero(text, OPTFILE_MAX);
    et_free(text);
    return e;
}

/* Reads what the process `b` was told about TLS. */
static int read_node(struct optfile *o, const struct beam *b, struct tls_why *why)
{
    struct buf args = BUF_INIT;
    int e = 0, proc = proc_open(b->pid, b->start);
    ssize_t n = proc < 0 ? -ESRCH : proc_read(proc, "cmdline", ARGS_MAX, &args);
    if (n <= 0 || args.data[n - 1] != '\0') {
        e = no_file("the command line", n < 0 ? n : -EFBIG, b, why);
    } else {
        const char *path = read_arguments(o, args.data, args.data + n);
        if (path)
            e = read_optfile(o, b, proc, path, why);
    }
    if (e == 0 && o->not_read[0]) {
        snprintf(why->text, sizeof why->text,
                 "the configuration of process %d has the client's option %s, which erltrace does "
                 "not read",
                 (int)b->pid, o->not_read);
        snprintf(why->help, sizeof why->help,
                 "give files by --tls-cert, --tls-key and --tls-cacert, without --tls-from-node");
        e = ET_ENODE;
    }
    if (args.data)
        explicit_bzero(args.data, args.cap);
    buf_free(&args);
    if (proc >= 0)
        close(proc);
    return e;
}

/* -- all of it --------------------------------------------------------------------------------- */

/* A path and who named it: the user's takes precedence over the node's. */
struct source {
    const char *path;
    const struct beam *of; /* the process that named it; NULL: the user */
};

static struct source source_of(const char *given, const char *nodes, const struct beam *b)
{
    if (given)
        return (struct source){given, NULL};
    return (struct source){nodes[0] ? nodes : NULL, b};
}

static int read_all(struct tls_cred *c, const struct cred_options *o, const struct optfile *node,
                    const struct beam *b, struct tls_why *why)
{
    struct source cert = source_of(o->cert, node->cert, b),
                  cacert = source_of(o->cacert, node->cacert, b),
                  key = source_of(o->key, o->cert ? "" : node->key, b);
    int e = 0;
    if (cacert.path)
        e = read_file(&c->cacert, cacert.path, cacert.of, why);
    if (e == 0 && cert.path)
        e = read_file(&c->cert, cert.path, cert.of, why);
    if (!key.path)
        key = cert;
    if (e == 0 && key.path)
        e = read_file(&c->key, key.path, key.of, why);
    if (e == 0 && key.path && !cert.path) {
        snprintf(why->text, sizeof why->text, "a key is given, but no certificate for it");
        snprintf(why->help, sizeof why->help, "give it by --tls-cert");
        e = ET_ENODE;
    }
    if (key.of)
        memcpy(c->password, node->password, sizeof c->password);
    return e;
}

/* Without a CA nothing can be verified, and the user must ask for that. */
static int set_verify(struct tls_cred *c, const struct cred_options *o, const struct optfile *node,
                      struct tls_why *why)
{
    c->verify = o->verify != TLS_VERIFY_UNSAID      ? o->verify
                : node->verify != TLS_VERIFY_UNSAID ? node->verify
                                                    : TLS_VERIFY_HOST;
    if (c->verify == TLS_VERIFY_HOST && o->verify == TLS_VERIFY_UNSAID) {
        if (node->any_host)
            c->verify = TLS_VERIFY_CA;
        memcpy(c->host, node->host, sizeof c->host);
    }
    if (c->verify == TLS_VERIFY_NONE || c->cacert.text)
        return 0;
    snprintf(why->text, sizeof why->text,
             "there is nothing to verify the node's certificate with%s",
             o->from_node ? ": its configuration names no cacertfile for clients" : "");
    snprintf(why->help, sizeof why->help,
             "give the CA certificates that it was signed with by --tls-cacert FILE, or accept any "
             "with `--tls-verify none`");
    return ET_ENODE;
}

int cred_read(struct tls_cred *c, const struct cred_options *o, const struct beam *b,
              struct tls_why *why)
{
    struct optfile node = {0};
    int e = 0;
    *c = (struct tls_cred){0};
    *why = (struct tls_why){0};
    if (o->from_node && b) {
        e = read_node(&node, b, why);
    } else if (o->from_node) {
        snprintf(why->text, sizeof why->text,
                 "there is no process of this host whose configuration could be read");
        snprintf(why->help, sizeof why->help, "%s", give_files);
        e = ET_ENODE;
    }
    if (e == 0)
        e = read_all(c, o, &node, b, why);
    if (e == 0)
        e = set_verify(c, o, &node, why);
    explicit_bzero(&node, sizeof node);
    return e;
}

void cred_free(struct tls_cred *c)
{
    free_file(&c->cert);
    free_file(&c->key);
    free_file(&c->cacert);
    explicit_bzero(c, sizeof *c);
}
