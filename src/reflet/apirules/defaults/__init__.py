"""What the API server fills in before it stores an object."""
