/* The place of a mistake is that of the macro, not of what stands for it. */
inline int n = $2;
BEGIN { trace(n + $1); }
BEGIN { trace(strlen($2)); }
BEGIN { $1 += 1; }
BEGIN { $$1 = 1; }
BEGIN { x = 1 $2; }
