/* stability.h - attributes: the stability of a name and of its data, and what they depend on
 * (language.md 2.7). Written Name/Data/Class; the attributes of several things together are the
 * minimum of each. */
#ifndef ET_LANG_STABILITY_H
#define ET_LANG_STABILITY_H

#include <stdbool.h>
#include <stdint.h>

struct attr {
    uint8_t name, data, class; /* indexes of the tables in stability.c, in ascending order */
};

extern const struct attr attr_stable; /* Stable/Stable/Common: those of D itself and of programs */
extern const struct attr attr_standard; /* Standard/Standard/Common: the highest */

/* Reads "Evolving/Private/ISA", in any case; returns false if it is invalid. */
bool attr_parse(const char *text, struct attr *out);
struct attr attr_min(struct attr a, struct attr b);
const char *attr_stability(uint8_t level); /* "Stable" */
const char *attr_class(uint8_t level);     /* "Common" */
/* Attributes as one number, and back; and whether a reaches `least` in every component. */
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
/* Returns the attributes of a provider's probes; unknown providers are Unstable. */
struct attr attr_provider(const char *name);

#endif
