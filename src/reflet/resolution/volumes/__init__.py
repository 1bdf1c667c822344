"""The files of a volume, and what a mount shows of them.  Writing them is ``reflet.volumes``.

- ``volume_contents``: which kinds of volumes hold configuration, and the files of each
- ``file_contents``: what comes out, as data, and whom files belong to
- ``keyed_contents``: keys of a ConfigMap or Secret; ``downward_contents``: fields of the pod
- ``projected_contents``: several sources in one directory; ``trust_bundles``: one of them
- ``sub_paths``: what mounts ask of a volume

Upstream: pkg/volume/{configmap,secret,downwardapi,projected}
"""
