"""Kubernetes' vocabulary: frozen data, and how bytes become data.  No I/O, no clock.

Read by name what you need; nothing is re-exported here, so that nobody pays for structs they
do not use.

Structs
    ``frozen``            the base of all structs: JSON names, read-only mappings, QuantityText
    ``meta``              ObjectMeta, ListMeta, owner references, conditions, Time, MicroTime
    ``core/``             the kinds: pods, containers, volumes, config, nodes, services, workloads,
                          and the small ones
    ``unstructured``      AnyObject: any other kind, kept as bytes
    ``tables``            Table: what the server prints for people
    ``status``            Status, the error it means, and questions about errors

Names
    ``resources``         the resource catalogue and URL paths
    ``scheme``            which struct stands for which kind

Bytes
    ``codec``             objects and lists
    ``watch_events``      lines of a watch stream
    ``json_reader``       strict, then tolerant decoding, and what is said of failures
    ``field_path``        places inside an object: ``spec.containers[0].name``
    ``yaml/``             manifests, and printing

Small texts and requests
    ``quantities``        exact amounts: ``500m``, ``1Gi``
    ``selectors/``        label selectors and field selectors: parsing and matching
    ``options``           GetOptions, ListOptions, WatchOptions, DeleteOptions and the others
    ``paging``            limit and continue: the pager
"""
