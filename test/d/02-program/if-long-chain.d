#pragma D option quiet


BEGIN
{
	x = 37;
	if (x == 0) printf("0\n"); else
	if (x == 1) printf("1\n"); else
	if (x == 2) printf("2\n"); else
	if (x == 3) printf("3\n"); else
	if (x == 4) printf("4\n"); else
	if (x == 5) printf("5\n"); else
	if (x == 6) printf("6\n"); else
	if (x == 7) printf("7\n"); else
	if (x == 8) printf("8\n"); else
	if (x == 9) printf("9\n"); else
	if (x == 10) printf("10\n"); else
	if (x == 11) printf("11\n"); else
	if (x == 12) printf("12\n"); else
	if (x == 13) printf("13\n"); else
	if (x == 14) printf("14\n"); else
	if (x == 15) printf("15\n"); else
	if (x == 16) printf("16\n"); else
	if (x == 17) printf("17\n"); else
	if (x == 18) printf("18\n"); else
	if (x == 19) printf("19\n"); else
	if (x == 20) printf("20\n"); else
	if (x == 21) printf("21\n"); else
	if (x == 22) printf("22\n"); else
	if (x == 23) printf("23\n"); else
	if (x == 24) printf("24\n"); else
	if (x == 25) printf("25\n"); else
	if (x == 26) printf("26\n"); else
	if (x == 27) printf("27\n"); else
	if (x == 28) printf("28\n"); else
	if (x == 29) printf("29\n"); else
	if (x == 30) printf("30\n"); else
	if (x == 31) printf("31\n"); else
	if (x == 32) printf("32\n"); else
	if (x == 33) printf("33\n"); else
	if (x == 34) printf("34\n"); else
	if (x == 35) printf("35\n"); else
	if (x == 36) printf("36\n"); else
	if (x == 37) printf("37\n"); else
	if (x == 38) printf("38\n"); else
	if (x == 39) printf("39\n"); else
	if (x == 40) printf("40\n"); else
	if (x == 41) printf("41\n"); else
	if (x == 42) printf("42\n"); else
	if (x == 43) printf("43\n"); else
	if (x == 44) printf("44\n"); else
	if (x == 45) printf("45\n"); else
	if (x == 46) printf("46\n"); else
	if (x == 47) printf("47\n"); else
	if (x == 48) printf("48\n"); else
	if (x == 49) printf("49\n");
	exit(0);
}
