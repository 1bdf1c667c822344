"""The rules of jobs, of when they run, and of how they end.

Upstream: pkg/apis/batch/validation/validation.go
"""
