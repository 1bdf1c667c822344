"""The controllers of workloads: what becomes of a template.

Each file is one controller; ``revisions`` and ``workload_pods`` are what they share.
"""
