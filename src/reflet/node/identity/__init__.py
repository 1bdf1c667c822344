"""The node itself: its Node object, its lease, and what the machine is."""
