BEGIN
{
	@[stack()] = count(); printa("%d", @);
}
