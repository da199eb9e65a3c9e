BEGIN { @a[1] = count(); @b = count(); }
BEGIN { x = @b; }
BEGIN { x = @a[1] + 1; }
BEGIN { trace(strlen(@b)); }
BEGIN { @b == 5 ? 1 : 2; }
BEGIN /@b > 3/ { }
BEGIN { if (@b) x = 1; }
BEGIN { x = -@b; }
BEGIN { m[@b] = 1; }
