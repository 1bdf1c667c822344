"""Where pods come from, and the one place that registers and unregisters them."""
