#pragma D option quiet
#pragma D option nspec=0
BEGIN { trace(speculation()); exit(0); }
