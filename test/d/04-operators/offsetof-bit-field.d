struct s { int a:2; };
BEGIN { trace(offsetof(struct s, a)); exit(0); }
