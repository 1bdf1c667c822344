"""What is asked about many pods at once.

- ``gather_staleness``: pods that run, and the past of what they use; ``staleness_watch``: the same,
  watched
- ``gather_unused``: all ConfigMaps and Secrets, and what their possible users name
- ``gather_diff``: the pods of files, in a cluster as it is and as it would be
"""
