"""What the page of ``reflet ui`` shows, computed: objects, how they arrive, and who has what.

- ``page_document``: the document that a browser gets, and a change of it
- ``brief_objects``: pods, ConfigMaps and Secrets without what the page does not need, values first
- ``page_uses``: which keys the containers of a pod have, and in which state
- ``workload_page``: the pods of one workload, folded, with the state of every line
- ``page_sentences``: what is wrong, in a sentence, and the command that repairs it
- ``page_edits``: how far an edit has come

States are those of ``staleness``; nothing here judges a second time.
"""
