#pragma D option quiet
int x;
uint8_t y;
int a[string], m[2][3];
self char *p;
BEGIN { x = 5; a["k"] = 6; }
int x;
unsigned char y;
int a[string], m[2][3];
self char *p;
int32_t x;
BEGIN { printf("%d %d\n", x, a["k"]); exit(0); }
