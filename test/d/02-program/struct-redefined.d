struct s { int x; };
struct s { int x; };
BEGIN { exit(0); }
