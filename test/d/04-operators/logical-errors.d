struct s { int a; } v;
BEGIN { x = 1 && "a"; }
BEGIN { x = "a" || 1; }
BEGIN { x = v ^^ 1; }
BEGIN { x = !"a"; }
BEGIN { x = !v; }
BEGIN { x = "a" ? 1 : 2; }
BEGIN { x = v ? 1 : 2; }
BEGIN /"a"/ { }
BEGIN /v/ { }
BEGIN { if (v) x = 1; }
