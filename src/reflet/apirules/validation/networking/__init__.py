"""The rules of ingresses and network policies, and of the addresses in them.

Upstream: pkg/apis/networking/validation/validation.go
"""
