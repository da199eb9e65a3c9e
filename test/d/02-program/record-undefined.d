/* without a node nobody knows a record that the program does not define; each use is an error */
BEGIN { trace(argv[0].#order.id); exit(0); }
BEGIN /argv[0].#order.id == argv[1]#order.price/ { trace(argv[0].key); }
