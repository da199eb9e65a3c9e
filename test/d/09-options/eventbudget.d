/* What a firing does is counted, over all its clauses. Beyond the budget a clause faults, ERROR is fired, and the later clauses of the
 * firing are given up; the next firing has a budget of its own. */
#pragma D option quiet
#pragma D option eventbudget=4k
#pragma D option strsize=8k

string s;
BEGIN { s = "0123456789abcdef0123456789abcdef"; s = strjoin(s, s); s = strjoin(s, s); s = strjoin(s, s); s = strjoin(s, s); }
BEGIN { n = rindex(s, "za"); n = rindex(s, "zb"); n = rindex(s, "zc"); printf("not to be seen\n"); }
BEGIN { printf("not to be seen, either\n"); }
ERROR { printf("%d %d %d\n", arg4 == DTRACEFLT_EVENTBUDGET, arg4, arg5); }
tick-10ms { printf("%d\n", index(s, "f0")); exit(0); }
