"""Who may change or refuse a write on its way to the storage: admission, and the webhooks in it.

``attributes`` is the seam that verbs know.  Which webhooks a write concerns is decided in
``webhook_matching``, what is said to them and by them in ``admission_reviews``; ``webhook_client``
speaks to them, and ``webhooks`` does all that in the real server's order.
"""
