/* tiers.h - the sets of tiers, by the short names that the lists give them. Only for sources that
 * expand the lists' column of tiers. */
#ifndef ET_WORDS_TIERS_H
#define ET_WORDS_TIERS_H

#include "words/words.h"

enum {
    LOCAL = WORD_LOCAL,
    VM = WORD_VM,
    KERNEL = WORD_KERNEL,
    VM_KERNEL = WORD_VM | WORD_KERNEL,
    ALL = WORD_ALL
};

#endif
