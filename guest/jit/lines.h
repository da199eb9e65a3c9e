/* lines.h - file and line of an address in compiled code.
 *
 * In front of a module's code the VM keeps a HEADER: the number of functions, other words, then a
 * pointer to each function and one to the end of the code. One of the other words points to the
 * module's LINE TABLE: file names, the size of a location (2 or 4 bytes), the locations, and for
 * each function where its part of a list of addresses begins. The location of an address is that
 * of the last listed address at or before it; it is a file's number, times 2^24, plus a line.
 *
 * PROOF. Which release has which other words is not assumed. Where consecutive words point to
 * functions that were found before (beam/probe/code.h, linux/kjit.h), the distance to the number of
 * functions is counted for all modules, then the distance to a pointer to what can be a line table.
 * Each must be the same for nearly all modules, and unlike any other. What is read later is checked
 * again: the header is the one that was found, its pointer leads to this function, addresses ascend
 * and lie within the function, files have numbers that the table has.
 *
 * READING. The memory of the VM is read through the system (/proc/self/mem, or that of another
 * process), which fails where a load would fault, and by one thread. Sizes are bounded before they
 * are used. When anything does not fit, there are no lines. */
#ifndef ET_JIT_LINES_H
#define ET_JIT_LINES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    LINES_HEADER = 40,    /* words of a header in front of its pointers that are considered */
    LINES_SITES = 4096,   /* most addresses of one function */
    LINES_FILES = 64,     /* most files of one function's module that are named */
    LINES_FILE_MOST = 512 /* bytes of a file's name */
};

/* A header. */
struct lines_module {
    uint64_t pointers; /* address of the pointer to the first function; 0: not known */
    uint64_t print;    /* hash of the words in front of it */
    uint32_t n;        /* functions */
};

/* From an address on, relative to the three words of the function, this is the location: a file's
 * number times 2^24, plus a line; 0: none. */
struct lines_site {
    uint32_t offset, location;
};

/* A mapping of code. */
struct code_extent {
    uint64_t from, to;
};
enum { CODE_RANGES = 16 /* mappings of code */ };

/* What is known of one VM. Zeros to begin with. */
struct lines {
    struct code_extent code[CODE_RANGES];
    uint32_t ncode;
    /* In words in front of the first pointer; 0: not known. */
    uint32_t number, table;
    /* While looking for headers. */
    int memory;
    uint64_t *block; /* NULL: not looking */
    uint32_t counted, at_number[LINES_HEADER + 1];
    uint32_t seen, at_table[LINES_HEADER + 1];
    /* While reading. */
    uint64_t site[LINES_SITES + 1];
    uint8_t location[LINES_SITES * 4];
};

/* Begins to look for headers, in code mappings that end before the next call of it. */
bool lines_begin(struct lines *l, int memory, const struct code_extent *code, uint32_t ncode);
/* Examines the functions of one module, by the addresses of their three words, in order. First all
 * modules are counted, then lines_shape tells whether the header is known, then each is found. */
void lines_count(struct lines *l, const uint64_t *at, uint32_t n);
bool lines_shape(struct lines *l);
bool lines_find(struct lines *l, const uint64_t *at, uint32_t n, struct lines_module *out);
/* Ends it, and decides where the pointer to the line table is. */
void lines_end(struct lines *l);

/* Returns the sites of the function whose three words are at `at`, at most LINES_SITES; 0: not
 * known. */
size_t lines_read(struct lines *l, int memory, const struct lines_module *m, uint64_t at,
                  struct lines_site *out);
/* Returns the location of a byte of the function, by its sites; 0: none is known. */
static inline uint32_t lines_location(const struct lines_site *site, size_t n, uint64_t offset)
{
    size_t low = 0, high = n;
    while (low < high) {
        const size_t mid = low + (high - low) / 2;
        if (site[mid].offset <= offset)
            low = mid + 1;
        else
            high = mid;
    }
    return low > 0 ? site[low - 1].location : 0;
}

/* Writes the name of a file of that module, UTF-8, at most LINES_FILE_MOST bytes, not terminated.
 * Returns its length, 0: not known. */
size_t lines_file(const struct lines *l, int memory, const struct lines_module *m, uint32_t file,
                  char *out);
/* Returns whether the header is still the one that was found. */
bool lines_still(const struct lines *l, int memory, const struct lines_module *m);

#endif
