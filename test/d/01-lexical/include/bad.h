/* A header with a mistake in its third line. */

inline int from_bad = nothing;
