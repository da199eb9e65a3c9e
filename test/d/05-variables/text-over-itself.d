#pragma D option quiet

/* A global text is set to one that lies in its own bytes: it is read through the array before it,
 * from the string's fourth character on. What was known of the text's length is no longer true
 * afterwards. */
char g[8];
string s;

BEGIN
{
	g[0] = 'x';
	s = "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ";
	this->p = (uintptr_t)&g[0] + sizeof (g) + 8 + 3;
	s = copyinstr(this->p);
	printf("%d\n", strlen(copyinstr(this->p, 200)));
	printf("%s\n", s);
	exit(0);
}
