"""What a request means, and what is done about it.

- ``requests``, ``options``, ``documents``, ``json_text``: what was asked
- ``selection``, ``selector_texts``, ``continue_tokens``: which objects are meant
- ``verbs``: from a request to its answer; ``reading``, ``writing``, ``patching``, ``ownership``,
  ``deleting``, ``watching``: what each verb does
- ``definitions``, ``scales``, ``reviews``, ``pod_subresources``, ``subresource_bodies``,
  ``service_account_tokens``, ``faces``: what only some kinds have
- ``state``, ``seeds``, ``manifests``: what all of it works on, and what is there at the start
"""
