"""Orphans are told from children that somebody will wait for, and none stays a zombie.

Every scene is a process of its own, because becoming an heir cannot be taken back.
"""

from __future__ import annotations

import json
import subprocess
import sys
from typing import Any

HEAD = """
import asyncio, json, os, subprocess, time
from reflet.processes.process_table import children_of
from reflet.processes.reaping import OrphanReaper, become_reaper, kill_orphans
assert become_reaper()
def children(): return [(entry.pid, entry.has_ended) for entry in children_of(os.getpid())]
def until(condition):
    while not condition(): time.sleep(0.005)
"""


def told_by(scene: str) -> Any:
    finished = subprocess.run(
        [sys.executable, "-c", HEAD + scene],
        capture_output=True,
        check=False,
        timeout=50,
        text=True,
    )
    assert finished.returncode == 0, finished.stderr
    return json.loads(finished.stdout)


def test_an_orphan_that_ended_is_reaped_at_the_second_look() -> None:
    assert told_by(
        """
subprocess.run(["sh", "-c", "true & exit"])
reaper = OrphanReaper()
subprocess.run(["sh", "-c", "(sleep 0.05; exit 3) & exit 0"])
until(lambda: [ended for _, ended in children()] and all(ended for _, ended in children()))
waiting = len(children())
print(json.dumps([reaper.look(), reaper.look() == waiting, children()]))
"""
    ) == [0, True, []]


def test_a_child_that_somebody_waits_for_in_time_is_left_to_them() -> None:
    assert told_by(
        """
reaper = OrphanReaper()
process = subprocess.Popen(["sh", "-c", "exit 3"])
until(lambda: all(ended for _, ended in children()))
print(json.dumps([reaper.look(), process.wait(), reaper.look()]))
"""
    ) == [0, 3, 0]


def test_children_that_all_live_are_not_looked_at_one_by_one() -> None:
    assert told_by(
        """
from reflet.processes import reaping
looks = []
reaping.children_of = lambda pid: looks.append(pid) or []
process = subprocess.Popen(["sleep", "100"])
reaper = OrphanReaper()
while_it_lives = [reaper.look(), reaper.look(), len(looks)]
process.kill()
os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOWAIT)
reaper.look()
process.wait()
print(json.dumps([while_it_lives, len(looks)]))
"""
    ) == [[0, 0, 0], 1]


def test_a_look_that_fails_is_made_again_and_complained_of_once() -> None:
    assert told_by(
        """
import errno, logging
from reflet.processes import reaping
from reflet.testing.virtual_time import VirtualClock, VirtualTimeLoop
said, looks = [], []
reaping.logger.addHandler(logging.Handler())
reaping.logger.handlers[0].emit = lambda record: said.append(record.getMessage())
def no_descriptors(pid):
    looks.append(pid)
    raise OSError(errno.EMFILE, "Too many open files")
async def scene():
    subprocess.run(["sh", "-c", "true & exit 0"])
    os.waitid(os.P_ALL, 0, os.WEXITED | os.WNOWAIT)
    with_them, reaping.children_of = reaping.children_of, no_descriptors
    task = asyncio.create_task(OrphanReaper(clock=VirtualClock()).run())
    await asyncio.sleep(3.5)
    reaping.children_of = with_them
    await asyncio.sleep(3.5)
    task.cancel()
    return children()
with asyncio.Runner(loop_factory=VirtualTimeLoop) as runner:
    left = runner.run(scene())
print(json.dumps([left, len(looks), said]))
"""
    ) == [[], 4, ["processes cannot be looked at: [Errno 24] Too many open files"]]


def test_the_reaper_reaps_until_it_is_cancelled() -> None:
    assert (
        told_by(
            """
async def scene():
    task = asyncio.create_task(OrphanReaper().run())
    subprocess.run(["sh", "-c", "(sleep 0.05) & exit 0"])
    while children(): await asyncio.sleep(0.01)
    task.cancel()
    return "gone"
print(json.dumps(asyncio.run(scene())))
"""
        )
        == "gone"
    )


def test_an_orphan_that_may_not_be_killed_is_left_after_a_while() -> None:
    assert told_by(
        """
from reflet.processes.reaping import KILL_TIMEOUT
from reflet.testing.virtual_time import VirtualClock, VirtualTimeLoop
stranger, ours = subprocess.Popen(["sleep", "60"]), subprocess.Popen(["sleep", "60"])
real = os.kill
def kill(pid, number):
    if pid == stranger.pid: raise PermissionError(1, "Operation not permitted")
    real(pid, number)
os.kill = kill
with asyncio.Runner(loop_factory=VirtualTimeLoop) as runner:
    killed = runner.run(kill_orphans(clock=VirtualClock()))
    took = runner.get_loop().time()
os.kill = real
left = [pid for pid, _ in children()] == [stranger.pid]
stranger.kill(); stranger.wait()
print(json.dumps([killed, left, KILL_TIMEOUT <= took < KILL_TIMEOUT + 1]))
"""
    ) == [1, True, True]


def test_orphans_are_killed_with_their_descendants_and_others_are_spared() -> None:
    assert told_by(
        """
keep = subprocess.Popen(["sleep", "60"])
subprocess.run(["sh", "-c", "setsid sh -c 'sleep 60 & sleep 60' & exit 0"])
until(lambda: len(children()) > 1)
killed = asyncio.run(kill_orphans(spare={keep.pid}))
left = [pid for pid, _ in children()] == [keep.pid]
keep.kill(); keep.wait()
print(json.dumps([killed >= 1, left, children()]))
"""
    ) == [True, True, []]
