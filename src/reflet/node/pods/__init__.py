"""One worker for each pod: admission, start, volumes, reload and end."""
