"""Measurements that decisions rest on: ``python -m benchmarks`` runs them.

Each benchmark is a module here with ``run(*, quick)``; ``measuring`` holds what they share.
"""
