"""The rules of devices: what there is, who claims it, and what was given to whom.

Upstream: pkg/apis/resource/validation/validation.go
"""
