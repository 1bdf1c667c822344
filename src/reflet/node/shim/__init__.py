"""What outlives the agent: the process that has the containers as its children."""
