struct later *p;
struct later v;
BEGIN { exit(0); }
