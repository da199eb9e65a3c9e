BEGIN
{
	@[1] = count(); printa("%k", @);
}
