BEGIN
/probename = "BEGIN"/
{
}
