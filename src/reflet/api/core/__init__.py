"""The kinds that pods are made of and depend on, as frozen structs."""
