"""Label and field selectors: their text, and which objects they match."""
