#pragma D option quiet
tick-1$2 { printf("%s\n", probename); }
tick-$1ms { printf("%s\n", probename); exit(0); }
