#pragma D option quiet
#pragma D option aggpercpu
#pragma D option cpu=0
/* With printa() as well, for each of several; a format shows what it names. */
BEGIN { @a["x"] = sum(1); @b["x"] = sum(2); printa(@a); printa("%s %@d\n", @a); exit(0); }
