/* args[] are as stable as their provider says; arg0 and its like are what D has. */
#pragma D attributes Evolving/Private/ISA provider shop args
#pragma D attributes Stable/Stable/Common provider shop provider
#pragma D attributes Stable/Stable/Common provider shop module
#pragma D attributes Stable/Stable/Common provider shop function
#pragma D attributes Stable/Stable/Common provider shop name
provider shop { probe sold(int n); };

shop:::sold
{
	trace(arg0);
}

shop:::sold
{
	trace(args[0]);
}
