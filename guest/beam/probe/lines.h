/* lines.h - file and line of an address in compiled code.
 *
 * In front of a module's code the VM keeps a HEADER: the number of functions, other words, then a
 * pointer to each function and one to the end of the code. One of the other words points to the
 * module's LINE TABLE: file names, the size of a location (2 or 4 bytes), the locations, and for
 * each function where its part of a list of addresses begins. The location of an address is that
 * of the last listed address at or before it; it is a file's number, times 2^24, plus a line.
 *
 * PROOF. Which release has which other words is not assumed. Where consecutive words point to
 * functions that were found by their names (code.h), the distance to the number of functions is
 * counted for all modules, then the distance to a pointer to what can be a line table. Each must
 * be the same for nearly all modules, and unlike any other. What is read later is checked again:
 * the header is the one that was found, its pointer leads to this function, addresses ascend and
 * lie within the function, files have numbers that the table has.
 *
 * READING. The server alone reads, and through the system (/proc/self/mem), which fails where a
 * load would fault. Sizes are bounded before they are used. When anything does not fit, there are
 * no lines. */
#ifndef ET_BEAM_PROBE_LINES_H
#define ET_BEAM_PROBE_LINES_H

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

/* From an address on, relative to the three words of the function, this is the location. */
struct lines_site {
    uint32_t offset, location;
};

/* Begins to look for headers, in code mappings that end before the next call of it. */
struct code_extent;
bool lines_begin(int memory, const struct code_extent *code, uint32_t ncode);
/* Examines the functions of one module, by the addresses of their three words, in order. First all
 * modules are counted, then lines_shape tells whether the header is known, then each is found. */
void lines_count(const uint64_t *at, uint32_t n);
bool lines_shape(void);
bool lines_find(const uint64_t *at, uint32_t n, struct lines_module *out);
/* Ends it, and decides where the pointer to the line table is. */
void lines_end(void);

/* Returns the sites of the function whose three words are at `at`, at most LINES_SITES; 0: not
 * known. */
size_t lines_read(int memory, const struct lines_module *m, uint64_t at, struct lines_site *out);
/* Writes the name of a file of that module, UTF-8, at most LINES_FILE_MOST bytes, not terminated.
 * Returns its length, 0: not known. */
size_t lines_file(int memory, const struct lines_module *m, uint32_t file, char *out);
/* Returns whether the header is still the one that was found. */
bool lines_still(int memory, const struct lines_module *m);

#endif
