"""Makes ``python -m reflet`` the same as the ``reflet`` command.

Owns nothing: the command line belongs to ``reflet.cli``.
"""

import sys

from reflet.cli.main import main

if __name__ == "__main__":
    sys.exit(main())
