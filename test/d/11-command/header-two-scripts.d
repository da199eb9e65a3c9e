provider other { probe a(); };
