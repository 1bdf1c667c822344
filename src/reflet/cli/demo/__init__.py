"""The story that ``reflet demo`` tells, and the stage on which it is shown."""
