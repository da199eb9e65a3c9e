BEGIN
{
	@ = count(); printa("%*s", @);
}
