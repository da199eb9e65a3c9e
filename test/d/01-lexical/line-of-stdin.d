# 10 "other.d"
# 20 "/dev/stdin" 2
BEGIN
{
	trace(nosuch);
}
