struct job { int size; };
typedef struct jobinfo { int bytes; } jobinfo_t;
provider shop { probe a(struct job *j) : (jobinfo_t *j); };
provider desk { probe a(int j) : (string j); };
provider door { probe a(int j) : (long j); };
BEGIN { exit(0); }
