/* no term has no keys and no fields */
#pragma D option quiet
record order { id, price };
BEGIN
{
	printf("[%T] [%T] [%T]\n", argv[0].key, argv[0].#order.price, argv[0].'a b'.#order.id.key);
	printf("%d %d\n", argv[0].key == NULL, term_int(argv[0].#order.price));
	printf("%d\n", atom("a").key == NULL);
	exit(0);
}
