/* Functions, variables, inlines and enumerators share theirs. */
int strlen;
enum e { trace };
int x;
enum f { x };
inline int y = 1;
int y;
enum g { Z };
inline int Z = 1;
