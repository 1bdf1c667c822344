"""What the API server makes of a document: decoded, filled in, admitted, validated, or refused.

Pure: documents in, documents or refusals out.  Time, chance and identities come in as arguments
(``admission.Surroundings``).  The one file that is read, the recorded schemas, is part of the
package like its code, and is read once.  ``devserver`` is a server on these rules, and
``manifests`` reads files through them, so a file means here what it would mean to a cluster.

- ``schema``: the kinds, what their objects look like, and decoding a body by that
- ``strict_decoding``: whether a body is an object of its kind at all, and unknown fields
- ``defaults``: values for what was left out
- ``admission``: what a create or an update stores, whatever the kind (``rest.BeforeCreate``)
- ``kind_strategies``, ``cluster_strategies``: what single kinds get and keep (their
  ``PrepareForCreate``)
- ``service_allocation``: cluster IPs and node ports
- ``validation``: the rules of each kind, and of names, labels and selectors
- ``cel``, ``regular_expressions``: what schemas of other people say in expressions and patterns
- ``pod_amounts``: how much all containers of a pod ask for together
- ``api_approval``: definitions in groups of the Kubernetes community
- ``object_warnings``: what is said of objects that are taken (their ``WarningsOnCreate``)
- ``refusals``: every refusal, with the real server's code, reason and words

Owner references are checked (``validation/metadata``) and stored; nothing follows them.
"""
