struct out { int v; };
translator struct out < int i > { v = 1; }
BEGIN { exit(0); }
