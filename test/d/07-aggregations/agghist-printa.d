#pragma D option quiet
/* One after the other: as always, with bars, as always. printa() starts with a newline of its own. */
BEGIN { @["x"] = sum(4); }
BEGIN { printa(@); setopt("agghist"); printa(@); setopt("agghist", "no"); printa("%s %@d\n", @); exit(0); }
