struct out { int v; char s[16]; int *p; };
translator struct out < int i > {
	v = "text";
	s = i;
	p = i;
};
BEGIN { exit(0); }
