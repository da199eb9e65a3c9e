#pragma D option quiet
#pragma D option agghist
/* A format says all, and several aggregations have no common scale. */
BEGIN { @a["x"] = sum(4); @b["x"] = sum(5); printa("%s: %@d\n", @a); printa("%s %@d %@d\n", @a, @b); exit(0); }
