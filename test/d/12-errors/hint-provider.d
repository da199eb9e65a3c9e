dtarce:::BEGIN
{
}
