BEGIN
{
	x = strstr("abc", 'b');
}
