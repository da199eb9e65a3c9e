int v;
BEGIN { x = &v; exit(0); }
