BEGIN { trace(1), trace(2); }
BEGIN { x = 1, printf("a"); }
BEGIN { x = (1, exit(0)); }
BEGIN { @a = count(), x = 1; }
BEGIN { x = 1, @b = count(); }
