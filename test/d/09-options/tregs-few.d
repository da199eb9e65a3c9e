#pragma D option tregs=1
BEGIN { a[1, 2] = 1; b[1, 2, 3] = 1; }
