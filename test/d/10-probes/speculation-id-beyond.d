/* commit() and discard() of an id that there cannot be fault; of one that is not in use do nothing. */
#pragma D option quiet
#pragma D option nspec=2
BEGIN { s = speculation(); commit(2); commit(0); discard(2); discard(0); }
BEGIN { trace("nothing "); }
BEGIN { commit(3); }
BEGIN { discard(3); }
BEGIN { commit(-1); }
BEGIN { exit(0); }
