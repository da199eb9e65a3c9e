import x;
counter y;
BEGIN { exit(0); }
