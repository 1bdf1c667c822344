"""What the API server is told about pods, and the events that say why."""
