#pragma D option tregs=1
int ok[int, int];
int many[int, int, int];
BEGIN { ok[1, 2] = 1; }
