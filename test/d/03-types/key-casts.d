/* A key is cast to the type of the signature before it is looked up. */
#pragma D option quiet
int byint[int];
int bychar[char];
int byuchar[uint8_t, string];
BEGIN
{
	byint[(char)-1] = 1;
	bychar[257] = 2;
	byuchar[-1, "x"] = 3;
	printf("%d %d %d\n", byint[-1], byint[0xffffffff], byint[0x1ffffffff]);
	printf("%d %d %d\n", bychar[1], bychar[513], bychar[2]);
	printf("%d %d\n", byuchar[255, "x"], byuchar[511, "x"]);
	made[1L] = 4;
	printf("%d %d\n", made[1], made[0x100000001]);
	exit(0);
}
