#pragma D option quiet
:BEGIN { n++; }
::BEGIN { n++; }
:::BEGIN { n++; }
dtrace:::BEGIN { n++; }
::: { all++; }
dtrace::: { own++; }
dtrace:::BEGIN { printf("%d %d %d\n", n, all, own); exit(0); }
