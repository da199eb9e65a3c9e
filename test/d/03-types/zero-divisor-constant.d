BEGIN { x = 1; y = x / 0; }
BEGIN { x = 1; y = x % 0; }
BEGIN { x = 1; x /= 0; }
BEGIN { x = 1; x %= 5 - 5; }
BEGIN { trace(7 / (1 - 1)); }
BEGIN { trace(arg0 / '\0'); }
int a[1 / 0];
