#pragma D option quiet
BEGIN { x = stringof(0); printf("never\n"); }
BEGIN { this->n = 0; trace(stringof(this->n)); }
ERROR { printf("%d\n", arg4); }
BEGIN { exit(0); }
