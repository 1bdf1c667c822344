"""Queues between a reflector and a store: client-go's contract of DeltaFIFO and its kin.

- ``delta_fifo``: ``DeltaFifo``, each key's deltas together, and what all such queues share
- ``ordered_queue``: ``OrderedQueue``, deltas in the order of their arrival (RealFIFO)

``SharedInformer(queue="delta-fifo")`` sends its deltas through a ``DeltaFifo``, by way of
``process_deltas.KeyedIntake``; the default needs no queue, since the store is changed in the same
turn.  Nothing of ours uses an ``OrderedQueue``: it is for programs that take deltas in another task
than the reflector's, as ``examples/reflector_and_delta_fifo.py`` does with a ``DeltaFifo``.
"""
