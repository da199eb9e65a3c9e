#pragma D option encoding=latin1
BEGIN { exit(0); }
