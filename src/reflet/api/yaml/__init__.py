"""YAML as Kubernetes reads and writes it, with the line of every value."""
