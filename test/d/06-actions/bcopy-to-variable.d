struct s { char n[8]; } v;
BEGIN { bcopy("hello", v.n, 6); }
