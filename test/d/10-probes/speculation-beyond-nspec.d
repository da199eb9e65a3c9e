#pragma D option quiet


#pragma D option nspec=2

int n;

BEGIN { commit(3); n++; }
BEGIN { discard(3); n++; }
BEGIN { commit(-1); n++; }
BEGIN { commit(2); n++; }
BEGIN { printf("%d\n", n); exit(0); }
