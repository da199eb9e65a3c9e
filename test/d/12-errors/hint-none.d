BEGIN
{
	trace(zzzzqqqq);
}
