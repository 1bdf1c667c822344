"""What programs that act on a cluster are made of."""
