"""Whether processes of the same user may look into this one.

Owns: the flag of the kernel that says so.  Must not know what there is to see.

A process may read the environment and the memory of every other process of its user, and stop
and change it with a debugger.  Where commands of strangers run as the same user, that would give
them our credentials.
"""

from __future__ import annotations

import ctypes
from typing import Final

PR_SET_DUMPABLE: Final = 4


def refuse_inspection() -> bool:
    """Close this process to others of its user, root apart; False where that cannot be done.

    It leaves no core dump either.  Programs that it starts are as open as any.  Files of
    ``/proc/self`` that only the owner may read, ``environ`` and ``mem`` say, become root's: this
    process itself cannot open them any more.
    """
    library = ctypes.CDLL(None, use_errno=True)
    try:
        control = library.prctl
    except AttributeError:
        return False
    return bool(control(PR_SET_DUMPABLE, 0, 0, 0, 0) == 0)
