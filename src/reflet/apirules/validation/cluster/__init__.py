"""The rules of what configures a cluster: admission, flow control, API services, certificates.

A check named after a kind looks at the whole object, its metadata too, in the order of the server.
"""
