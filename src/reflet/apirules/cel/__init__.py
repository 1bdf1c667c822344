"""The Common Expression Language, as the API server speaks it in schemas of custom resources.

From text to a verdict, without a clock and without I/O:

- ``tokens``, ``syntax``, ``parser``: the text, and what it says
- ``types``, ``signatures``, ``checker``: whether it can be, given the types of its variables
- ``values``, ``evaluation``, ``macros``: what it comes to, within a budget
- ``operators``, ``text_functions``, ``list_functions``, ``time_functions``, ``network_functions``,
  ``kubernetes_functions``: what it may call, one table for checking and running
- ``expression``: all of it in one call

How types and values follow from a schema is in ``reflet.apirules.validation.custom``.

Upstream: cel-go; apiserver/pkg/cel
"""
