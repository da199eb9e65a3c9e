BEGIN { } # what it does
