/* stability.h - attributes: how stable a name and its data are, and what they depend on
 * (language.md 2.7). Written Name/Data/Class; the attributes of several things together are the
 * least of each.
 */
#ifndef ET_LANG_STABILITY_H
#define ET_LANG_STABILITY_H

#include <stdbool.h>
#include <stdint.h>

struct attr {
    uint8_t name, data, class; /* indexes of the tables in stability.c, in ascending order */
};

extern const struct attr attr_stable;   /* Stable/Stable/Common: what D itself and programs have */
extern const struct attr attr_standard; /* Standard/Standard/Common: the most there is */

/* "Evolving/Private/ISA", in upper or lower case; false when it is none. */
bool attr_parse(const char *text, struct attr *out);
struct attr attr_min(struct attr a, struct attr b);
const char *attr_stability(uint8_t level); /* "Stable" */
const char *attr_class(uint8_t level);     /* "Common" */
/* As one number, and back. Whether a reaches least in every component. */
static inline int64_t attr_pack(struct attr a)
{
    return (int64_t)a.name << 16 | (int64_t)a.data << 8 | a.class;
}
static inline struct attr attr_unpack(int64_t v)
{
    return (struct attr){(uint8_t)(v >> 16), (uint8_t)(v >> 8), (uint8_t)v};
}
static inline bool attr_reaches(struct attr a, struct attr least)
{
    return a.name >= least.name && a.data >= least.data && a.class >= least.class;
}
/* What the probes of a provider have; providers that are not known are Unstable. */
struct attr attr_provider(const char *name);

#endif
