"""Queues between a reflector and a store: client-go's contract of DeltaFIFO and its kin."""
