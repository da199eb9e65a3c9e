/* Each clause has an error of its own, which is reported whatever those before it were. */
BEGIN { trace(1; }
BEGIN { x = ; }
BEGIN { x = 1 y = 2; }
BEGIN /1 { x = 1; }
BEGIN { a[1 = 2; }
END
BEGIN { if (x { y = 1; } }
BEGIN { if (1) { x = ; } else { y = 2; } }
BEGIN { trace(nosuch); }
BEGIN { "open }
