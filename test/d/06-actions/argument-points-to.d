struct two { int a, b; };
string s;
BEGIN { trace(inet_ntoa("x")); }
BEGIN { trace(inet_ntoa(probename)); }
BEGIN { trace(inet_ntoa((struct two *)alloca(8))); }
BEGIN { trace(inet_ntoa((long *)alloca(8))); }
BEGIN { trace(inet_ntoa6("::1")); }
BEGIN { trace(inet_ntoa6((int *)alloca(16))); }
BEGIN { trace(inet_ntop(2, "x")); }
BEGIN { trace(link_ntop(1, s)); }
BEGIN { trace(d_path("x")); }
BEGIN { trace(mutex_owned(s)); }
