BEGIN
{
}
dtrace:::NOSUCH
{
}
