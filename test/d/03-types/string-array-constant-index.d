string s[2]; BEGIN
{
	s[2] = "x";
}
