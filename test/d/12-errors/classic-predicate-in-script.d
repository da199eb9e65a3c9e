BEGIN
/nosuch/
{
}
