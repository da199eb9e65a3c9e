#pragma D option nspec=17
BEGIN { exit(0); }
