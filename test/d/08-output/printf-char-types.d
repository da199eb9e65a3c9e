#pragma D option quiet

BEGIN
{
	printf("%c%c%c%c|%5c|%-5c|\n", 65, (char)66, (short)67, (unsigned int)0x144, 69, 70);
	exit(0);
}
