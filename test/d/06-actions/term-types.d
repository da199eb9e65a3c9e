/* a term is no number, has no parts that D knows, and is told from numbers */
BEGIN { trace(term_int(5)); }
BEGIN { trace(term_text("text")); }
BEGIN { trace(term_kind(curthread)); }
BEGIN { this->x = term_get(NULL, "a") + 1; }
BEGIN { trace(*term_get(NULL, "a")); }
BEGIN { trace(term_element(NULL)); }
BEGIN { trace(term_get(NULL, 1)); }
BEGIN { this->t = term_get(NULL, "a"); this->t = 5; }
