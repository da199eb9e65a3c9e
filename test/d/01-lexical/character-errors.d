BEGIN { trace(''); }
BEGIN { trace('abcdefghi'); }
BEGIN { trace('a
); }
BEGIN { trace('\
'); }
