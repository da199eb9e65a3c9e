#pragma D option quiet
#pragma D option agghist
/* No bars for other functions, nor without keys. */
BEGIN { @m["x"] = max(5); @v["x"] = avg(6); @c = count(); exit(0); }
