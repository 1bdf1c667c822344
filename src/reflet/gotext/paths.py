"""Paths with slashes, made as short as they can be without a look at any file system.

Upstream: Go's path/path.go, Clean
"""


def clean(path: str) -> str:
    """Return the shortest equal path: no ``.``, no doubled or closing slash, ``..`` resolved.

    An empty path is ``.``; what leads above the root ends at the root, and what leads above
    the start keeps its ``..``.
    """
    rooted = path.startswith("/")
    kept: list[str] = []
    for element in path.split("/"):
        if element in {"", "."}:
            continue
        if element == ".." and kept and kept[-1] != "..":
            kept.pop()
        elif element != ".." or not rooted:
            kept.append(element)
    return ("/" if rooted else "") + "/".join(kept) or "."


def below(path: str) -> str:
    """Return the path as one that cannot leave the directory it is read in; empty for that."""
    return clean(f"/{path}")[1:]
