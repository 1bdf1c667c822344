"""A tour of the library in a few seconds, with no cluster: ``python examples/tour.py``.

Starts a development API server in this process, loads a few manifests, and uses it the way a
program would: typed reads, selectors, a mirror that follows changes and survives, refusals that
say what is wrong.
"""

from __future__ import annotations

import asyncio
import time
from pathlib import Path

import reflet
from reflet import ConfigMap, ListOptions, Pod, Quantity, Secret
from reflet.devserver import DevServer

MANIFESTS = Path(__file__).parent / "manifests" / "shop.yaml"


def title(text: str) -> None:
    print(f"\n── {text}")


async def read(cluster: reflet.Cluster) -> None:
    title("Objects are typed and frozen, and secrets do not show themselves")
    config = await cluster.resource(ConfigMap).get("special-config")
    print(f"special-config holds {dict(config.data)}")
    secret = repr(await cluster.resource(Secret).get("mysecret"))
    print(f"mysecret shows as    {secret[secret.rindex(' data=') + 1 : secret.index(', string')]}")
    try:
        config.data["SPECIAL_LEVEL"] = "changed"  # type: ignore[index]  # what must not work
    except TypeError as error:
        print(f"changing it fails:   {error}")

    title("Lists come in pages, by label or field")
    pending = ListOptions(field_selector="status.phase=Pending")
    for pod in (await cluster.resource(Pod).list(pending)).items:
        container = pod.spec.containers[0]
        print(f"{pod.metadata.name} waits to run {' '.join(container.command)!r}")
    print(f"half of 1Gi is       {Quantity.parse('1Gi').ceil_divide(Quantity.parse('2'))} bytes")


async def mirror(cluster: reflet.Cluster, server: DevServer) -> None:
    title("A mirror is the collection in memory, and follows every change")
    async with cluster.mirror("configmaps") as config_maps:
        await config_maps.synced(timeout=10)
        print(f"in memory: {list(config_maps)}")
        changes = config_maps.changes()
        await anext(changes)  # the object that was there
        for level in ("more", "most"):
            began = time.perf_counter()
            await set_level(cluster, level)
            change = await anext(changes)
            delay = (time.perf_counter() - began) * 1000
            print(f"{change.type} {shown(change)} here {delay:.1f} ms after it was sent")

        title("It survives a server that goes away and forgets")
        await server.restart(0.5)
        server.state.storage.expire_history()
        print("the server broke every connection, was away, and forgot its history")
        await set_level(cluster, "back again")
        print(f"{(await anext(changes)).type} SPECIAL_LEVEL={level_of(config_maps)}")


async def set_level(cluster: reflet.Cluster, level: str) -> None:
    patch = {"data": {"SPECIAL_LEVEL": level}}
    await cluster.resource(ConfigMap).patch("special-config", patch)


def shown(change: reflet.Change[ConfigMap]) -> str:
    return f"SPECIAL_LEVEL={change.object.data['SPECIAL_LEVEL']}"


def level_of(config_maps: reflet.Mirror[ConfigMap]) -> str:
    return config_maps["special-config"].data["SPECIAL_LEVEL"]


async def refuse(cluster: reflet.Cluster) -> None:
    title("A refusal names what is wrong")
    broken = {"metadata": {"name": "broken"}, "data": {"not a key": "x"}}
    attempts = (
        cluster.resource(ConfigMap).create({"apiVersion": "v1", "kind": "ConfigMap", **broken}),
        cluster.resource(ConfigMap).get("missing"),
    )
    for attempt in attempts:
        try:
            await attempt
        except reflet.RefletError as error:
            print(f"{type(error).__name__}: {error}")


async def main() -> None:
    began = time.perf_counter()
    async with DevServer(load=[str(MANIFESTS)]) as server:
        took = (time.perf_counter() - began) * 1000
        print(f"A Kubernetes API runs in this process, at {server.url} (after {took:.0f} ms)")
        for loaded in server.loaded:
            print(f"  {loaded}")
        async with reflet.connect(kubeconfig=str(server.kubeconfig_path)) as cluster:
            await read(cluster)
            await mirror(cluster, server)
            await refuse(cluster)
    title("Try next")
    print(".venv/bin/reflet serve -f examples/manifests --kubeconfig-out /tmp/reflet.config")
    print("KUBECONFIG=/tmp/reflet.config kubectl get pods,cm,secrets")
    print("KUBECONFIG=/tmp/reflet.config .venv/bin/reflet get secret/mysecret -o yaml")


if __name__ == "__main__":
    asyncio.run(main())
