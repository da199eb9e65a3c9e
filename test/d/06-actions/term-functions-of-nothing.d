/* no term is of no kind, has no size or part, and equals nothing but no term */
#pragma D option quiet
BEGIN
{
	this->t = hd(tl(NULL));
	printf("%d%d%d%d%d%d%d%d%d%d%d%d%d%d%d\n", is_atom(this->t), is_binary(this->t), is_bitstring(this->t), is_boolean(this->t),
	    is_float(this->t), is_function(this->t), is_integer(this->t), is_list(this->t), is_map(this->t), is_number(this->t),
	    is_pid(this->t), is_port(this->t), is_reference(this->t), is_tuple(this->t),
	    is_record(this->t, atom("a")));
	printf("%d %d %d %d %d %d %d\n", length(this->t), tuple_size(this->t), map_size(this->t), byte_size(this->t), term_float(this->t, 10),
	    term_words(this->t), term_hash(this->t));
	printf("[%T] [%#T] %d\n", this->t, this->t, element(1, this->t) == NULL && map_get("a", this->t) == NULL && map_get(1, this->t) == NULL &&
	    map_get(this->t, this->t) == NULL);
	printf("%d %d %d %d %d\n", this->t == NULL, this->t == 0, this->t == "", this->t == atom(""), this->t == hd(NULL));
	exit(0);
}
