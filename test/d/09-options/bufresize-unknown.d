#pragma D option bufresize=maybe
BEGIN { exit(0); }
