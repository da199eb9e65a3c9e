string s[2]; BEGIN
{
	s = "x";
}
