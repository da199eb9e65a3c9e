struct s { short b:17; };
BEGIN { exit(0); }
