dtrace:::BEGNI
{
}
