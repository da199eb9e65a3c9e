int a[int, string];
struct s { int x; } v;
struct t { int x; } w;
BEGIN { a[1] = 1; }
BEGIN { a[1, "k", 2] = 1; }
BEGIN { a["k", 1] = 1; }
BEGIN { trace(a[1, 2]); }
BEGIN { b[v] = 1; trace(b[w]); }
BEGIN { c[(void)1] = 1; }
BEGIN { d["x"] = 1; trace(d[arg0]); }
BEGIN { e[1] = 1; e[1, 2]++; }
BEGIN { @f[1] = count(); @f["x"] = count(); }
