"""A custom kind, as texts of manifests."""

from __future__ import annotations

from typing import Final

TILL: Final = "apiVersion: shop.dev/v1\nkind: Till\nmetadata: {name: till}\n"


def till_definition(spec: str, *, more: str = "") -> str:
    """Define the kind: the schema of its spec, and what *more* is said of the whole."""
    return f"""\
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {{name: tills.shop.dev}}
spec:
  group: shop.dev
  scope: Namespaced
  names: {{plural: tills, singular: till, kind: Till, listKind: TillList}}
  versions:
  - name: v1
    served: true
    storage: true
    schema:
      openAPIV3Schema: {{type: object, properties: {{spec: {spec}}}, {more}}}
"""
