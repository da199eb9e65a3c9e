#pragma D option quiet


string s;

BEGIN
{
	s = "raw";
	setopt(strjoin(s, "bytes"));
	trace((char)65);
	exit(0);
}
