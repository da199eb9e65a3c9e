/* objects.h - what native code an address lies in: which shared object, and which of the functions
 * that it exports. For the server alone.
 *
 * The objects are those that the system's list of mappings has (/proc/self/maps). The list is read
 * when it is first needed, and again for an address that it does not explain, at most once a
 * second. The exported functions are read in memory, where the object itself says that its table
 * of dynamic symbols is: through the system, which fails where a load would fault; no size is
 * trusted. A function is believed if the address lies in its extent; what lies between two
 * functions that are exported is only known to be of the object. (An emulator need not export any.)
 *
 * So a PLACE is an extent with one name: `beam.smp`erts_garbage_collect`, or `[crypto.so]`. Each is
 * told to the log of names (code.h) once, so that its addresses can be frames of stacks. */
#ifndef ET_BEAM_PROBE_OBJECTS_H
#define ET_BEAM_PROBE_OBJECTS_H

#include <stdbool.h>
#include <stdint.h>

enum objects_kind {
    OBJECTS_VM,     /* the emulator's program */
    OBJECTS_SYSTEM, /* libraries of C and its compilers, the loader, what the kernel maps */
    OBJECTS_OTHER   /* NIFs, drivers, and the libraries that they need */
};

struct objects_place {
    uint64_t from, to;
    const char *name;
    enum objects_kind kind;
};

/* Finds the place of an address. Returns NULL when it is not known. The answer is valid until the
 * next call. now: CLOCK_MONOTONIC ns. */
const struct objects_place *objects_find(uint64_t at, uint64_t now);
/* Returns the place with this name that stands for no address: 1 to OBJECTS_MADE. */
enum { OBJECTS_MADE = 15 };
const struct objects_place *objects_made(unsigned number, const char *name);
/* The log of names begins anew: nothing has been told. */
void objects_forget(void);

#endif
