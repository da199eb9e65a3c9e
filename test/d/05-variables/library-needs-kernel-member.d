BEGIN
{
	trace(1);
	trace(curlwpsinfo->pr_pri);
}
