"""The flags that commands share: which server, which pod, which files."""
