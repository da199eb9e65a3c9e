BEGIN { x = printf("a"); }
BEGIN { x = 1 + trace(1); }
BEGIN { y = count(); }
BEGIN { strlen(exit(0)); }
BEGIN { m[trace(1)] = 1; }
BEGIN /printf("x")/ { }
BEGIN { -clear(1); }
BEGIN { count(); }
BEGIN { quantize(1) + 1; }
