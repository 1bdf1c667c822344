"""Who may do what: nodes what the Node authorizer grants them, everybody else everything.

- ``access_attributes``: what is judged, from a request or from a review
- ``authorizer``: the decision on any user, and the refusal that follows from it
- ``node_authorizer``: the decision on a node
- ``node_graph``: which objects the pods of a node lead to
- ``pod_references``: the names in a pod
- ``node_restriction``: what a node may write, seen from the objects (admission)
"""
