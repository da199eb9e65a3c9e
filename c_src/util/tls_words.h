/* tls_words.h - the command-line options for nodes that speak TLS, shared by both programs that
 * have them. The part after the dashes and `tls-` is a name of erltrace_set_tls. */
#ifndef ET_UTIL_TLS_WORDS_H
#define ET_UTIL_TLS_WORDS_H

#include <getopt.h>

/* Rows of a table for getopt_long, all with the same value. */
#define TLS_WORDS(value)                                                                           \
    {"tls-from-node", no_argument, NULL, value}, {"tls-cacert", required_argument, NULL, value},   \
        {"tls-cert", required_argument, NULL, value}, {"tls-key", required_argument, NULL, value}, \
    {                                                                                              \
        "tls-verify", required_argument, NULL, value                                               \
    }

#define TLS_USAGE                                                                                  \
    "[--tls-from-node] [--tls-cacert FILE] [--tls-cert FILE [--tls-key FILE]]\n"                   \
    "                [--tls-verify host|ca|none]"

/* Returns the erltrace_set_tls name of a row. */
static inline const char *tls_word(const struct option *row)
{
    return row->name + sizeof "tls-" - 1;
}

#endif
