BEGIN
{
}

END
/caller == 0/
{
}
