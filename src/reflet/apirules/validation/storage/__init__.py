"""The rules of storage: persistent volumes, claims on them, and the classes they come in.

Upstream: pkg/apis/core/validation/validation.go; pkg/apis/storage/validation/validation.go
"""
