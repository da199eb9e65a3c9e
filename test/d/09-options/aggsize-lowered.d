#pragma D option quiet
#pragma D option aggsize=100000t

BEGIN { @ = count(); exit(0); }
