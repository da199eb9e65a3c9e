BEGIN
{
}
#error not for this machine
