/* dictionary.h - how large the dictionary of a process is, before the process is asked for it.
 *
 * Where no single key can be asked for (OTP_LABELS), a process that is asked for its dictionary
 * copies all of it. Of one with a small heap that is little. Of any other the size is counted at an
 * event of the process itself, on its own scheduler, where nobody else can change it.
 *
 * FORM. Four numbers of 32 bits: a mask, the slots that are used, those that there are, and the
 * next one to be split; a word with the number of elements; the slots. Each is [], an element
 * {Key, Value}, or a list of elements. The used slots are a power of two and those that have been
 * split since; the mask is twice that power, less one. A process without a dictionary has the
 * address 0.
 *
 * Which word of a process is the address is proven by inside.h. What it leads to has to have this
 * form, and as many elements as it says. Otherwise, or with more slots or parts than are counted,
 * the dictionary is too large to ask for. */
#ifndef ET_BEAM_PROBE_DICTIONARY_H
#define ET_BEAM_PROBE_DICTIONARY_H

#include <stdbool.h>
#include <stdint.h>

#include <erl_nif.h>

enum {
    DICTIONARY_SLOTS = 512,       /* that are counted at most */
    DICTIONARY_PARTS = 2000,      /* terms in them */
    DICTIONARY_WORDS = 128 * 1024 /* of one that is small: 1 MiB */
};
#define DICTIONARY_LARGE UINT32_MAX /* words of one that is not counted to its end */
#define DICTIONARY_NONE  UINT64_MAX /* elements where there is no dictionary */

/* Returns the number of elements of the dictionary at an address, which need be none: it is read by
 * the system. fd: of /proc/self/mem. */
uint64_t dictionary_elements(int fd, uint64_t at);

/* Returns the words of a copy of the dictionary at an address that is known to be one, or 0. For
 * callbacks, at an event of its process. */
uint32_t dictionary_words(ErlNifEnv *env, uint64_t at);

#endif
