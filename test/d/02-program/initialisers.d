int x = 1;
self int y = 2;
int a[2] = { 1, 2 };
BEGIN { exit(0); }
