string s[2]; BEGIN
{
	s[0] += "x";
}
