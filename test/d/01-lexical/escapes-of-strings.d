#pragma D option quiet

BEGIN
{
	this->s = "\a\b\f\n\r\t\v\"\\";
	printf("%d: %d %d %d %d %d %d %d %d %d\n", strlen(this->s), this->s[0], this->s[1], this->s[2], this->s[3],
	    this->s[4], this->s[5], this->s[6], this->s[7], this->s[8]);
	printf("%s|%s|%s|%s\n", "\101\1012", "\x41\x00000042\x143", "it\'s", "\?\q\8\x");
	exit(0);
}
