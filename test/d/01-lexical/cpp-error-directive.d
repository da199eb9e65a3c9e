#error stop here
BEGIN
{
}
