/* What only a kernel can tell compiles; enabling says so, at the place where the program has it. */
BEGIN
{
	trace(chip);
}
