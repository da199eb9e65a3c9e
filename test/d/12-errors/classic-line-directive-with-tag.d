# 40 "include.h" 1
BEGIN
{
	x = y;
}
