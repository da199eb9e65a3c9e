BEGIN
/nosuch == 1/
{
	x = 1;
}
BEGIN
/self->y/
{
	x = 2;
}
