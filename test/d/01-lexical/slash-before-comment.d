BEGIN
{
	x = 8;
	trace(x / /* what follows is a slash */ 2);
}
