#pragma D option quiet
int n;
BE* { n += 1; }
*EGI* { n += 2; }
B?GIN { n += 4; }
[A-C]EGIN { n += 8; }
[!A]EGI[NM] { n += 16; }
BEGI\N { n += 32; }
dt*ce:::BE[E-H]* { n += 64; }
dtrace:::[!EFGH]* { n += 128; }
BEGIN { printf("%d\n", n); exit(0); }
