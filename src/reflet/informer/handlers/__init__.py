"""Who is told of changes, at which pace, and what each of them hears."""
