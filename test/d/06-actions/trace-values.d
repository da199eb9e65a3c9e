BEGIN
{
	trace(1);
	trace(-2L);
	trace((short)-3);
	trace((unsigned char)250);
	trace("text");
	exit(0);
}
