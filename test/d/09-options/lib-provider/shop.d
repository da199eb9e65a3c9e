struct item { int price; };
typedef struct iteminfo { int cents; } iteminfo_t;
translator iteminfo_t < struct item *i > { cents = i->price * 100; };
provider shop { probe sold(struct item *i, char *to) : (iteminfo_t *i, string to); };
#pragma D attributes Evolving/Evolving/Common provider shop args
