BEGIN { @a = 5; }
BEGIN { @b = strlen("a"); }
BEGIN { @c += count(); }
BEGIN { @d++; }
BEGIN { @e[1] = @b; }
BEGIN { @f = trace(1); }
BEGIN { @g; }
BEGIN { @h[1]; }
BEGIN { x = @i = count(); }
