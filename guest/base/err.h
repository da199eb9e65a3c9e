/* err.h - the one error convention of erltrace.
 *
 * A function that can fail returns 0 or a negative code of this table, and fills a diagnostic
 * (diag.h) where a person will read it. The table is an X-macro so that names and texts cannot
 * drift apart. */
#ifndef ET_BASE_ERR_H
#define ET_BASE_ERR_H

#define ET_ERRORS(X)                                                                               \
    X(ENOMEM, "Memory allocation failure")                                                         \
    X(EINVAL, "invalid argument")                                                                  \
    X(ECOMPILE, "the program does not compile")                                                    \
    X(EIMAGE, "malformed program image")                                                           \
    X(EVERIFY, "the program image was rejected by the verifier")                                   \
    X(ENOPROBE, "no probe matches")                                                                \
    X(ENODE, "the node cannot be reached")                                                         \
    X(EAUTH, "the node refused the cookie")                                                        \
    X(EOTP, "the node runs an OTP release that is not supported")                                  \
    X(EAGENT, "the agent cannot be placed in the node")                                            \
    X(EBUSY, "another tracer is in the way")                                                       \
    X(ELOST, "the connection to the node was lost")                                                \
    X(ELIMIT, "a limit was exceeded")                                                              \
    X(EIO, "input or output failed")                                                               \
    X(EUNSUP, "not supported here")                                                                \
    X(EABORT, "a handler ended the trace")

enum et_err {
    ET_OK = 0,
#define X(name, text) ET_NUM_##name,
    ET_ERRORS(X)
#undef X
#define X(name, text) ET_##name = -ET_NUM_##name,
        ET_ERRORS(X)
#undef X
};

/* Returns the text of a code of this table, "unknown error" for any other. Static storage. */
const char *et_strerror(int err);

#endif
