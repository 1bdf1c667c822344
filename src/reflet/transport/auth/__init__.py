"""Who we say we are, and whom we trust: credentials and certificates."""
