int *v;
BEGIN { *v = 1; exit(0); }
