BEGIN { x = 1; #pragma whatever
	exit(0);
}
