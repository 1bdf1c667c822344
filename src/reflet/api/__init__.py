"""Kubernetes' vocabulary: frozen data, and how bytes become data.  No I/O, no clock.

Read by name what you need; nothing is re-exported here, so that nobody pays for structs they
do not use.

Structs
    ``frozen``            the base of all structs: names, read-only mappings
    ``micro_time``        times, and times with six digits
    ``quantity_text``     how structs hold quantities
    ``meta``              metadata of objects and lists, references, conditions
    ``config``            ConfigMap, Secret
    ``containers``        containers, their environment and mounts
    ``volumes``           volumes of a pod
    ``pod_status``        what a pod's containers are doing
    ``pods``              Pod and the pod template
    ``services``, ``nodes``, ``namespaces``, ``service_accounts``, ``events``, ``leases``
    ``workloads``         Deployment, StatefulSet, DaemonSet, ReplicaSet, ReplicationController,
                          Job, CronJob
    ``unstructured``      any other kind, kept as bytes
    ``tables``            what the server prints for people
    ``status``            the server's answer when there is no object, and its error

Names
    ``resources``         the resource catalogue and URL paths
    ``kinds``             which struct stands for which kind

Bytes
    ``codec``             objects and lists
    ``watch_events``      lines of a watch stream
    ``yaml_text``         manifests, and printing
    ``yaml_nodes``        YAML as values that remember their lines
    ``yaml_scalars``      what a bare word of YAML means to Kubernetes
    ``reading``           strict, then tolerant reading, and what is said of failures
    ``tolerance``         what the API server's reader accepts
    ``field_path``        places inside an object

Small texts and requests
    ``quantities``        exact amounts
    ``label_selectors``, ``field_selectors``, ``selectors``
    ``options``, ``paging``   what a request may ask for
"""
