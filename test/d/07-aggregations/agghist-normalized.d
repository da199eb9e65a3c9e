#pragma D option quiet
#pragma D option agghist
/* The values are divided, the bars are of the raw ones. */
BEGIN { @["a"] = sum(100); @["b"] = sum(300); normalize(@, 100); exit(0); }
