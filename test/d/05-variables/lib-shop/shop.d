struct item { int price; };
typedef struct iteminfo { int cents; } iteminfo_t;
#pragma D binding "1.5" translator
translator iteminfo_t < struct item *i > { cents = i->price * 100; };
provider shop { probe sold(struct item *i, char *to) : (iteminfo_t *i, string to); };
