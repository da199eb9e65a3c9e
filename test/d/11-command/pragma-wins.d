#pragma D option quiet=no
BEGIN { exit(0); }
