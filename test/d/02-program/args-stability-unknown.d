/* Providers that D does not know are unstable. */
provider shop { probe sold(int n); };
shop:::sold
{
	trace(args[0]);
}
