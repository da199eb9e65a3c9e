#pragma D option version=1.0
#pragma D option version=1.5
#pragma D option version=nonsense
BEGIN { exit(0); }
