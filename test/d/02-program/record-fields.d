/* fields of records that are and are not */
record order { id, price, 'any thing', string };
BEGIN { trace(argv[0].#order.string); trace(argv[0]#order.'any thing'); trace(retval.#later.y); }
record later { y };
BEGIN { trace(argv[0].#order.prize); }
BEGIN { trace(argv[0].#order.zzzzzz); }
BEGIN { trace(pid.#order.price); }
BEGIN { trace(argv[0].#order); }
BEGIN { trace(argv[0].#order.[1]); }
BEGIN { trace(argv[0].#(order)); }
BEGIN { argv[0].#order.id = 1; }
BEGIN { trace(argv[0]->price); }
BEGIN { trace(argv[0].#order.id + 1); }
