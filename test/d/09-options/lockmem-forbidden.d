#pragma D option lockmem=unlimited
BEGIN { exit(0); }
