BEGIN{trace(1)}END{trace(2)}BEGIN/1/{trace(3)}BEGIN,END/x==0/{x=1;exit(0)}
