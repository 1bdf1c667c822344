"""The live page: what a cluster, files or an agent have, kept fresh in a browser.

- ``board``: the facts, and the document that follows from them; decides what changed
- ``cluster_board``: mirrors that fill a board
- ``file_board``: files that fill one
- ``agent_page``: programs that deliver configuration themselves, and fill one
- ``page``: a board at a port
- ``page_feed``: the document and its changes as server-sent events, bounded for slow readers
- ``page_answers``: who may have the page, and which file is where
- ``report``: the page as one file
- ``assets``: the page itself, plain modules that a browser reads as they are
"""
