BEGIN
{
	@["x", 1] = count(); printa("%*d", @);
}
