/* no term has no kind, no text, no parts, and is 0 */
#pragma D option quiet
BEGIN
{
	this->t = term_element(term_get(NULL, "a"), 1);
	printf("[%s] %d %d [%s] [%s] %d\n", term_kind(this->t), term_int(this->t), term_size(this->t),
	    term_text(this->t), term_string(this->t), this->t == NULL);
	exit(0);
}
