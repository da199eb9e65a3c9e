BEGIN { break; }
BEGIN { case 1; }
BEGIN { continue; }
BEGIN { default = 1; }
BEGIN { do { x = 1; } while (0); }
BEGIN { for (;;) ; }
BEGIN { goto end; }
BEGIN { return; }
BEGIN { switch (1) { } }
BEGIN { while (1) ; }
