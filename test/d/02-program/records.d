/* definitions of records: their forms, and what is wrong with others */
record order { id, price, 'any thing', string, self, };
record empty { };
record 'odd name' { 'it\'s' };
record order { id, price, 'any thing', string, self };
record order { id };
record twice { a, b, a };
record typed { a = 1 };
record typed { a :: b };
record listed (a, b);
BEGIN { this->'x' = 1; }
record unfinished { a }
BEGIN { exit(0); }
-record(order, {id, price}).
