/* Providers are declared for header generation; running the program does nothing with them. */
#pragma D option quiet

typedef struct job { int size; } job_t;
provider shop {
	probe order__start(char *item, int n);
	probe order__done(job_t *job, uint64_t);
	probe idle();
	probe idle__too(void);
};
#pragma D attributes Evolving/Evolving/Common provider shop name

BEGIN
{
	printf("ran\n");
	exit(0);
}
