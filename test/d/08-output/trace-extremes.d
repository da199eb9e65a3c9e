BEGIN
{
	trace(0x7fffffffffffffff);
	trace(-0x7fffffffffffffff - 1);
	trace((int)0x80000000);
	trace((short)0x8000);
	trace((char)0x80);
	exit(0);
}
