BEGIN
{
	trace(curpsinfo->pr_psargs);
}

BEGIN
{
	trace(curpsinfo->pr_size);
}

BEGIN
{
	trace(curlwpsinfo->pr_start.tv_sec);
}

BEGIN
{
	trace(curpsinfo->pr_nope);
}

BEGIN
{
	trace(curpsinfo);
}
