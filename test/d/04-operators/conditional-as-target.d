int x, y;
BEGIN { arg0 ? x : y = 5; }
BEGIN { x + 1 = 5; }
BEGIN { x = 5 = y; }
BEGIN { -x = 5; }
BEGIN { (x, y) = 5; }
BEGIN { x++ = 5; }
BEGIN { (int)x = 5; }
BEGIN { strlen("a") = 5; }
