"""Rules that the API server checks, kind by kind, in its own words."""
