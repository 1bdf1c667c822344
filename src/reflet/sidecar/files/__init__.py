"""From the table of owners to the disk, and correct at every crash point.

- ``publishing``: announced in the ledger, written, removed
- ``ledger``: which files are ours, for the next start; the invariant is there
- ``plain_files``: the layout of plain files, each renamed into its place
- ``linked_folders``: the layout of links, a whole folder swapped at once
- ``folder_writes``: written beside and renamed
"""
