struct s { char n[4]; } v;
BEGIN { v.n = "abc"; }
