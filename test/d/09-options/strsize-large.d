/* A million characters: what is short stays short, and a long one can grow by strjoin(). */
#pragma D option quiet
#pragma D option strsize=1m
#pragma D option bufsize=16m
#pragma D option dynvarsize=32m
string s;
BEGIN { s = "0123456789"; s = strjoin(s, s); s = strjoin(s, s); s = strjoin(s, s); s = strjoin(s, s); }
BEGIN { s = strjoin(s, s); s = strjoin(s, s); s = strjoin(s, s); s = strjoin(s, s); }
BEGIN { s = strjoin(s, s); s = strjoin(s, s); self->s = s; a[1] = s; }
BEGIN { printf("%d %d %d %d\n", strlen(s), strlen(self->s), strlen(a[1]), strlen(strjoin(s, "xyz"))); exit(0); }
