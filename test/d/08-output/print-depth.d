#pragma D option quiet

struct s12 { int deepest; };
struct s11 { struct s12 m; };
struct s10 { struct s11 m; };
struct s9 { struct s10 m; };
struct s8 { struct s9 m; };
struct s7 { struct s8 m; };
struct s6 { struct s7 m; };
struct s5 { struct s6 m; };
struct s4 { struct s5 m; };
struct s3 { struct s4 m; };
struct s2 { struct s3 m; };
struct s1 { struct s2 m; };
struct s1 g[1];

BEGIN
{
	g[0].m.m.m.m.m.m.m.m.m.m.m.deepest = 5;
	print(&g[0]);
	exit(0);
}
