profle:::tick-1s
{
}
