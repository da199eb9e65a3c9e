int n;

BEGIN
{
	setopt(n);
	setopt("quiet", n);
}
