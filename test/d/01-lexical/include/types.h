/* Types that the program defines in another way, and one that it does not. */
struct both {
    char c;
};
struct header_only {
    struct both b;
    long l;
};
typedef short both_t;
typedef unsigned int uint64_t;
enum both { OF_BOTH = 1 };
