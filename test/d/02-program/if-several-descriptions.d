#pragma D option quiet


BEGIN, END
{
	if (probename == "END")
		printf("end\n");
	else
		exit(0);
}
