int v;
BEGIN { trace(offsetof(int, a)); exit(0); }
