/* tls.c - loads libssl at run time, and makes connections with it. See tls.h.
 *
 * Functions are called through a table, whose types are those of OpenSSL's headers. The library
 * loaded is of the same version as these headers, since constants and error codes have changed
 * between versions. OpenSSL reaches the socket through our own BIO, because its standard one would
 * raise SIGPIPE, and whether to ignore that signal is the program's decision. */
#include "wire/tls.h"

#include <dlfcn.h>
#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>

#include <openssl/err.h>
#include <openssl/pem.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>

#include "base/arena.h"
#include "base/err.h"

#ifndef OPENSSL_SHLIB_VERSION
#error "OpenSSL 3 or newer is needed"
#endif
#define TEXT_(x) #x
#define TEXT(x)  TEXT_(x)
#define VERSION  TEXT(OPENSSL_SHLIB_VERSION)
static const char soname[] = "libssl.so." VERSION;

/* clang-format off */
#define FUNCTIONS(X) \
    X(OPENSSL_init_ssl) X(TLS_client_method) X(SSL_CTX_new) X(SSL_CTX_free) X(SSL_CTX_ctrl) X(SSL_CTX_set_options) \
    X(SSL_CTX_set_verify) X(SSL_CTX_get_cert_store) X(SSL_CTX_use_certificate) X(SSL_CTX_use_PrivateKey) \
    X(SSL_CTX_check_private_key) X(SSL_new) X(SSL_free) X(SSL_ctrl) X(SSL_set_bio) X(SSL_set_connect_state) \
    X(SSL_do_handshake) X(SSL_read) X(SSL_write) X(SSL_shutdown) X(SSL_get_error) X(SSL_set1_host) \
    X(SSL_get_verify_result) X(X509_verify_cert_error_string) X(X509_STORE_add_cert) X(X509_free) \
    X(PEM_read_bio_X509) X(PEM_read_bio_PrivateKey) X(EVP_PKEY_free) X(ERR_clear_error) \
    X(ERR_peek_last_error) X(ERR_reason_error_string) X(BIO_get_new_index) X(BIO_meth_new) X(BIO_meth_set_write) \
    X(BIO_meth_set_read) X(BIO_meth_set_ctrl) X(BIO_new) X(BIO_free) X(BIO_new_mem_buf) X(BIO_set_data) \
    X(BIO_get_data) X(BIO_set_init) X(BIO_set_flags) X(BIO_clear_flags)
/* clang-format on */

static struct {
#define X(name) __typeof__(&name) name;
    FUNCTIONS(X)
#undef X
    BIO_METHOD *method; /* of our BIO */
    bool there;
    char missing[128]; /* why it is not available, in the loader's words */
} lib;

enum fault { FAULT_NONE, FAULT_CLOSED, FAULT_SYSTEM, FAULT_PEER, FAULT_OURS };

struct tls {
    int fd;
    SSL_CTX *ctx;
    SSL *ssl;
    pthread_mutex_t lock; /* around ssl */
    short read_events;    /* what SSL_read waits for */
    short write_events;   /* what SSL_write waits for */
    bool heard;           /* something was received */
    bool eof;             /* the socket has ended */
    bool has_cert;        /* we have a certificate to show */
    char host[256];       /* host that the node's certificate must name; "" any */
    enum fault fault;
    int err;              /* errno of FAULT_SYSTEM */
    unsigned long reason; /* OpenSSL's code of FAULT_PEER and FAULT_OURS */
    long verdict;         /* on the node's certificate; X509_V_OK when it passed */
};

/* -- the socket, as OpenSSL sees it ------------------------------------------------------------ */

static int outcome(BIO *b, ssize_t n, int flag)
{
    lib.BIO_clear_flags(b, BIO_FLAGS_RWS | BIO_FLAGS_SHOULD_RETRY);
    if (n < 0 && (errno == EAGAIN || errno == EINTR))
        lib.BIO_set_flags(b, flag | BIO_FLAGS_SHOULD_RETRY);
    return (int)n;
}

static int bio_write(BIO *b, const char *p, int n)
{
    struct tls *t = lib.BIO_get_data(b);
    return outcome(b, send(t->fd, p, (size_t)n, MSG_NOSIGNAL | MSG_DONTWAIT), BIO_FLAGS_WRITE);
}

static int bio_read(BIO *b, char *p, int n)
{
    struct tls *t = lib.BIO_get_data(b);
    ssize_t got = recv(t->fd, p, (size_t)n, MSG_DONTWAIT);
    t->heard |= got > 0;
    t->eof |= got == 0;
    return outcome(b, got, BIO_FLAGS_READ);
}

static long bio_ctrl(BIO *b, int what, long n, void *p)
{
    (void)n, (void)p;
    return what == BIO_CTRL_FLUSH ? 1
           : what == BIO_CTRL_EOF ? ((struct tls *)lib.BIO_get_data(b))->eof
                                  : 0;
}

/* -- the library ------------------------------------------------------------------------------- */

static bool resolve(void *handle)
{
    void *f;
#define X(name)                                                                                    \
    if (!(f = dlsym(handle, #name))) {                                                             \
        snprintf(lib.missing, sizeof lib.missing, "it has no " #name);                             \
        return false;                                                                              \
    }                                                                                              \
    memcpy(&lib.name, &f, sizeof f);
    FUNCTIONS(X)
#undef X
    return true;
}

static void load(void)
{
    void *handle = dlopen(soname, RTLD_NOW | RTLD_LOCAL); /* stays loaded until the process ends */
    const char *why = handle ? NULL : dlerror();
    if (!handle)
        snprintf(lib.missing, sizeof lib.missing, "%s", why ? why : "no reason is known");
    if (!handle || !resolve(handle))
        return;
    /* Our threads may still write while the process exits: OpenSSL must not clean up under them. */
    lib.OPENSSL_init_ssl(OPENSSL_INIT_NO_ATEXIT, NULL);
    lib.method =
        lib.BIO_meth_new(lib.BIO_get_new_index() | BIO_TYPE_SOURCE_SINK, "erltrace socket");
    lib.there = lib.method && lib.BIO_meth_set_write(lib.method, bio_write) &&
                lib.BIO_meth_set_read(lib.method, bio_read) &&
                lib.BIO_meth_set_ctrl(lib.method, bio_ctrl);
}

static const char *reason_text(unsigned long code)
{
    const char *s = code ? lib.ERR_reason_error_string(code) : NULL;
    return s ? s : "no reason is known";
}

/* -- open and close ---------------------------------------------------------------------------- */

static int refuse(struct tls_why *why, const struct tls_file *f, const char *what)
{
    snprintf(why->text, sizeof why->text, "%.200s: %.100s", f->name, what);
    return ET_ENODE;
}

/* A key's password, and whether OpenSSL asked for it. */
struct password {
    const char *text;
    bool asked;
};

static int tell_password(char *out, int cap, int writing, void *arg)
{
    struct password *p = arg;
    size_t n = strlen(p->text);
    (void)writing;
    p->asked = true;
    if (n == 0 || n > (size_t)cap)
        return -1;
    memcpy(out, p->text, n);
    return (int)n;
}

/* Passes each certificate of a file to `use`, which must take its own reference to keep it. Returns
 * the number of them, or -1 when one was rejected or cannot be read. */
static int each_cert(struct tls *t, const struct tls_file *f,
                     bool (*use)(struct tls *t, X509 *x, int n))
{
    BIO *b = lib.BIO_new_mem_buf(f->text, (int)f->len);
    struct password none = {.text = ""};
    X509 *x;
    int n = 0;
    bool ok = b != NULL;
    while (ok && (x = lib.PEM_read_bio_X509(b, NULL, tell_password, &none)) != NULL) {
        ok = use(t, x, n++);
        lib.X509_free(x);
    }
    /* OpenSSL reports the end of the file as this error. */
    unsigned long e = lib.ERR_peek_last_error();
    if (ok && ERR_GET_REASON(e) == PEM_R_NO_START_LINE)
        lib.ERR_clear_error();
    else
        ok = false;
    lib.BIO_free(b);
    return ok ? n : -1;
}

static bool use_ours(struct tls *t, X509 *x, int n)
{
    return n == 0 ? lib.SSL_CTX_use_certificate(t->ctx, x) == 1
                  : lib.SSL_CTX_ctrl(t->ctx, SSL_CTRL_CHAIN_CERT, 1, x) == 1;
}

static bool use_ca(struct tls *t, X509 *x, int n)
{
    (void)n;
    return lib.X509_STORE_add_cert(lib.SSL_CTX_get_cert_store(t->ctx), x) == 1;
}

static int set_certs(struct tls *t, const struct tls_file *f,
                     bool (*use)(struct tls *t, X509 *x, int n), struct tls_why *why)
{
    int n = each_cert(t, f, use);
    if (n > 0)
        return 0;
    return refuse(why, f,
                  n == 0 ? "it contains no certificate in PEM format"
                         : reason_text(lib.ERR_peek_last_error()));
}

static int set_key(struct tls *t, const struct tls_cred *c, struct tls_why *why)
{
    BIO *b = lib.BIO_new_mem_buf(c->key.text, (int)c->key.len);
    struct password password = {.text = c->password};
    EVP_PKEY *key = b ? lib.PEM_read_bio_PrivateKey(b, NULL, tell_password, &password) : NULL;
    int e = 0;
    lib.BIO_free(b);
    if (!key && password.asked) {
        e = refuse(why, &c->key,
                   c->password[0] ? "the password is wrong" : "the key is protected by a password");
        snprintf(why->help, sizeof why->help, "give a key that needs none by --tls-key");
    } else if (!key) {
        e = refuse(why, &c->key, "it contains no key in PEM format");
    } else if (lib.SSL_CTX_use_PrivateKey(t->ctx, key) != 1 ||
               lib.SSL_CTX_check_private_key(t->ctx) != 1) {
        e = refuse(why, &c->key, reason_text(lib.ERR_peek_last_error()));
    }
    lib.EVP_PKEY_free(key);
    return e;
}

static int set_cred(struct tls *t, const struct tls_cred *c, struct tls_why *why)
{
    int e = 0;
    if (c->cacert.text)
        e = set_certs(t, &c->cacert, use_ca, why);
    if (e == 0 && c->cert.text)
        e = set_certs(t, &c->cert, use_ours, why);
    if (e == 0 && c->cert.text)
        e = set_key(t, c, why);
    lib.SSL_CTX_set_verify(t->ctx, c->verify == TLS_VERIFY_NONE ? SSL_VERIFY_NONE : SSL_VERIFY_PEER,
                           NULL);
    t->has_cert = c->cert.text != NULL;
    lib.ERR_clear_error();
    return e;
}

/* Returns whether the host is an address, by which no server can be requested (SNI). */
static bool is_address(const char *host)
{
    return strchr(host, ':') || strspn(host, "0123456789.") == strlen(host);
}

static bool set_host(struct tls *t, const struct tls_cred *c, const char *host)
{
    const char *whom = c->host[0] ? c->host : host;
    if (c->verify == TLS_VERIFY_HOST)
        snprintf(t->host, sizeof t->host, "%s", whom);
    if (!is_address(whom) && lib.SSL_ctrl(t->ssl, SSL_CTRL_SET_TLSEXT_HOSTNAME,
                                          TLSEXT_NAMETYPE_host_name, (char *)whom) != 1)
        return false;
    return !t->host[0] || lib.SSL_set1_host(t->ssl, t->host) == 1;
}

static bool set_socket(struct tls *t)
{
    BIO *b = lib.BIO_new(lib.method);
    if (!b)
        return false;
    lib.BIO_set_data(b, t);
    lib.BIO_set_init(b, 1);
    lib.SSL_set_bio(t->ssl, b, b);
    lib.SSL_set_connect_state(t->ssl);
    /* A repeated write may come from another buffer, wherever the remaining bytes are then. */
    lib.SSL_ctrl(t->ssl, SSL_CTRL_MODE,
                 SSL_MODE_ENABLE_PARTIAL_WRITE | SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER, NULL);
    return true;
}

static bool new_context(struct tls *t)
{
    t->ctx = lib.SSL_CTX_new(lib.TLS_client_method());
    if (!t->ctx)
        return false;
    lib.SSL_CTX_ctrl(t->ctx, SSL_CTRL_SET_MIN_PROTO_VERSION, TLS1_2_VERSION, NULL);
    /* A node that is killed ends its connections without close_notify, as over TCP; the lengths of
     * frames tell what is complete. */
    lib.SSL_CTX_set_options(t->ctx, SSL_OP_IGNORE_UNEXPECTED_EOF);
    return true;
}

int tls_open(struct tls **out, int fd, const struct tls_cred *cred, const char *host,
             struct tls_why *why)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    *out = NULL;
    *why = (struct tls_why){0};
    pthread_once(&once, load);
    if (!lib.there) {
        snprintf(why->text, sizeof why->text,
                 "TLS needs OpenSSL's library %s, which cannot be loaded: %.150s", soname,
                 lib.missing);
        snprintf(why->help, sizeof why->help,
                 "install the package libssl" VERSION
                 " (from Debian 13 and Ubuntu 24.04 on libssl" VERSION "t64; of rpm openssl-libs)");
        return ET_ENODE;
    }
    struct tls *t = et_calloc(1, sizeof *t);
    if (!t)
        return ET_ENOMEM;
    t->fd = fd;
    t->read_events = POLLIN;
    t->write_events = POLLOUT;
    pthread_mutex_init(&t->lock, NULL);
    lib.ERR_clear_error();
    int e = new_context(t) ? set_cred(t, cred, why) : ET_ENOMEM;
    if (e == 0 && (!(t->ssl = lib.SSL_new(t->ctx)) || !set_socket(t) || !set_host(t, cred, host)))
        e = ET_ENOMEM;
    lib.ERR_clear_error();
    if (e) {
        tls_close(t);
        return e;
    }
    *out = t;
    return 0;
}

void tls_close(struct tls *t)
{
    if (!t)
        return;
    if (t->ssl && t->fault == FAULT_NONE)
        lib.SSL_shutdown(t->ssl);
    lib.ERR_clear_error();
    lib.SSL_free(t->ssl);
    lib.SSL_CTX_free(t->ctx);
    pthread_mutex_destroy(&t->lock);
    et_free(t);
}

/* -- going on ---------------------------------------------------------------------------------- */

/* Returns whether the error is an alert that the other side sent. */
static bool is_alert(unsigned long code)
{
    int alert = ERR_GET_REASON(code) - SSL_AD_REASON_OFFSET;
    return ERR_GET_LIB(code) == ERR_LIB_SSL && alert >= 0 && alert < 256;
}

/* Translates the result `n` of an OpenSSL function to that of recv; the caller holds the lock. */
static ssize_t meant(struct tls *t, int n, short *events)
{
    int system = errno;
    if (n > 0)
        return n;
    switch (lib.SSL_get_error(t->ssl, n)) {
    case SSL_ERROR_WANT_READ:
        *events = POLLIN;
        errno = EAGAIN;
        return -1;
    case SSL_ERROR_WANT_WRITE:
        *events = POLLOUT;
        errno = EAGAIN;
        return -1;
    case SSL_ERROR_ZERO_RETURN: t->fault = FAULT_CLOSED; return 0;
    case SSL_ERROR_SYSCALL:
        t->fault = t->eof || !system ? FAULT_CLOSED : FAULT_SYSTEM;
        t->err = errno = system;
        return t->fault == FAULT_CLOSED ? 0 : -1;
    default:
        t->reason = lib.ERR_peek_last_error(); /* the earlier ones are its causes */
        t->verdict = lib.SSL_get_verify_result(t->ssl);
        t->fault = is_alert(t->reason) ? FAULT_PEER : FAULT_OURS;
        lib.ERR_clear_error();
        errno = EPROTO;
        return -1;
    }
}

/* After a fault, the connection is unusable. */
static bool faulty(const struct tls *t)
{
    if (t->fault == FAULT_NONE || t->fault == FAULT_CLOSED)
        return false;
    errno = t->fault == FAULT_SYSTEM ? t->err : EPROTO;
    return true;
}

ssize_t tls_recv(struct tls *t, void *p, size_t n)
{
    ssize_t got = -1;
    pthread_mutex_lock(&t->lock);
    if (!faulty(t)) {
        lib.ERR_clear_error();
        errno = 0;
        got = meant(t, lib.SSL_read(t->ssl, p, n > 1 << 30 ? 1 << 30 : (int)n), &t->read_events);
    }
    pthread_mutex_unlock(&t->lock);
    return got;
}

ssize_t tls_send(struct tls *t, const void *p, size_t n)
{
    ssize_t put = -1;
    pthread_mutex_lock(&t->lock);
    if (!faulty(t)) {
        lib.ERR_clear_error();
        errno = 0;
        put = meant(t, lib.SSL_write(t->ssl, p, n > 1 << 30 ? 1 << 30 : (int)n), &t->write_events);
    }
    if (put == 0) {
        put = -1;
        errno = EPIPE;
    }
    pthread_mutex_unlock(&t->lock);
    return put;
}

int tls_handshake(struct tls *t, const char *node, struct tls_why *why)
{
    pthread_mutex_lock(&t->lock);
    lib.ERR_clear_error();
    errno = 0;
    short events = POLLIN;
    ssize_t n = meant(t, lib.SSL_do_handshake(t->ssl), &events);
    t->read_events = n > 0 ? POLLIN : events;
    t->write_events = n > 0 ? POLLOUT : events;
    bool again = n < 0 && errno == EAGAIN;
    pthread_mutex_unlock(&t->lock);
    if (n > 0)
        return 0;
    if (again)
        return EAGAIN;
    tls_explain(t, node, why);
    return ET_ENODE;
}

short tls_events(struct tls *t, short events)
{
    pthread_mutex_lock(&t->lock);
    short e = events == POLLIN ? t->read_events : t->write_events;
    pthread_mutex_unlock(&t->lock);
    return e;
}

/* -- in words ---------------------------------------------------------------------------------- */

/* The hint when the peer does not answer in TLS. */
static const char tls_none[] = "is its distribution without TLS? Then leave out the --tls options";

/* The functions below hold the lock, since another thread may be meeting a fault just now. */

/* Explains why we rejected the node's certificate. */
static void explain_verdict(const struct tls *t, const char *node, struct tls_why *why)
{
    snprintf(why->text, sizeof why->text, "the certificate of %.120s is not accepted: %.100s", node,
             lib.X509_verify_cert_error_string(t->verdict));
    switch (t->verdict) {
    case X509_V_ERR_HOSTNAME_MISMATCH:
    case X509_V_ERR_IP_ADDRESS_MISMATCH:
        snprintf(why->help, sizeof why->help,
                 "it does not name %.100s; `--tls-verify ca` checks only who signed it", t->host);
        break;
    case X509_V_ERR_CERT_HAS_EXPIRED:
    case X509_V_ERR_CERT_NOT_YET_VALID:
        snprintf(why->help, sizeof why->help,
                 "is the clock of this host right? `--tls-verify none` accepts any certificate");
        break;
    default:
        snprintf(why->help, sizeof why->help,
                 "give the CA certificates that it was signed with by --tls-cacert; `--tls-verify "
                 "none` accepts any certificate");
    }
}

/* Explains what the node may have against our certificate. */
static void explain_ours(const struct tls *t, struct tls_why *why)
{
    snprintf(why->help, sizeof why->help, "%s",
             t->has_cert ? "does it trust the CA of our certificate, and is that valid now? "
                           "Its log says more"
                         : "it may ask for a certificate of ours: give --tls-cert and --tls-key, "
                           "or --tls-from-node");
}

static void explain(const struct tls *t, const char *node, struct tls_why *why)
{
    *why = (struct tls_why){0};
    switch (t->fault) {
    case FAULT_PEER:
        snprintf(why->text, sizeof why->text, "%.120s ended the TLS connection: %.100s", node,
                 reason_text(t->reason));
        explain_ours(t, why);
        break;
    case FAULT_OURS:
        if (ERR_GET_REASON(t->reason) == SSL_R_CERTIFICATE_VERIFY_FAILED) {
            explain_verdict(t, node, why);
        } else {
            snprintf(why->text, sizeof why->text, "TLS with %.120s: %.100s", node,
                     reason_text(t->reason));
            if (ERR_GET_REASON(t->reason) == SSL_R_WRONG_VERSION_NUMBER)
                snprintf(why->help, sizeof why->help, "%s", tls_none);
        }
        break;
    case FAULT_SYSTEM:
    case FAULT_CLOSED:
    case FAULT_NONE:
        snprintf(why->text, sizeof why->text, "%.120s ended the TLS connection: %.100s", node,
                 t->fault == FAULT_SYSTEM ? strerror(t->err) : "it gave no reason");
        if (t->heard)
            explain_ours(t, why);
        else
            snprintf(why->help, sizeof why->help, "%s", tls_none);
    }
}

void tls_explain(struct tls *t, const char *node, struct tls_why *why)
{
    pthread_mutex_lock(&t->lock);
    explain(t, node, why);
    pthread_mutex_unlock(&t->lock);
}
