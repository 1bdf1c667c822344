"""The rules of the parts of pod specs: where pods run, as whom, and what their containers mount.

Upstream: pkg/apis/core/validation/validation.go
"""
