/* what the functions on terms take */
BEGIN { trace(is_atom(5)); }
BEGIN { trace(length()); }
BEGIN { trace(map_get(NULL)); }
BEGIN { trace(map_get(curthread, NULL)); }
BEGIN { this->s = "a"; trace(atom(this->s)); }
BEGIN { trace(atom(5)); }
BEGIN { trace(atom("xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx")); }
