pid:::entry
{
}
