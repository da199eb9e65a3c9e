provider a { probe p(int, ...); };
provider b { probe p(...); };
provider c { probe p(int, void); };
provider d { probe p(void x); };
provider e { probe p(int x, int x); };
provider f { probe p(int a[string]); };
provider g { probe p(int a) : (int); };
provider h { probe p(struct never s); };
BEGIN { exit(0); }
