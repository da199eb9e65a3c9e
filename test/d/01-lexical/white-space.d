#pragma D option quiet
BEGIN	
{
	printf("%d ",1)
;
	printf("2\n"); exit(0);
}
