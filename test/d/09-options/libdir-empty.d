#pragma D option quiet
BEGIN { printf("fine\n"); exit(0); }
