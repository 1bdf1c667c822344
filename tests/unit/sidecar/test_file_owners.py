"""The table of owners: the last one has the file, and every change names the paths to look at."""

from reflet.sidecar.file_owners import Claim, Owner, OwnerTable
from reflet.sidecar.targets import REMEMBERED

A = Owner(1, "n", "a", "configmap")
B = Owner(1, "n", "b", "configmap")
HIDDEN = Owner(0, "z", "z", "secret")


def test_the_last_owner_has_the_file_in_whichever_order_they_came() -> None:
    for order in ([A, B, HIDDEN], [HIDDEN, B, A], [B, HIDDEN, A]):
        table = OwnerTable()
        for owner in order:
            table.replace(owner, {"/f": str(owner)})

        assert table.wanted("/f") == Claim(B, "configmap n/b")
        assert table.contested == ("/f",)


def test_a_file_of_the_loser_is_not_looked_at() -> None:
    table = OwnerTable()
    table.replace(B, {"/f": "b"})

    assert table.replace(A, {"/f": "a"}) == set()
    assert table.remove(A) == set()
    assert table.wanted("/f") == Claim(B, "b")


def test_when_the_winner_goes_the_next_one_has_the_file() -> None:
    table = OwnerTable()
    table.replace(A, {"/f": "a"})
    table.replace(B, {"/f": "b"})

    assert table.remove(B) == {"/f"}
    assert table.wanted("/f") == Claim(A, "a")


def test_a_key_that_moves_leaves_its_old_path() -> None:
    table = OwnerTable()
    table.replace(A, {"/f": "1", "/same": "1"})

    assert table.replace(A, {"/g": "1", "/same": "1"}) == {"/f", "/g"}
    assert table.wanted("/f") is None
    assert sorted(table) == ["/g", "/same"]


def test_nothing_is_looked_at_when_nothing_is_new() -> None:
    table = OwnerTable()

    assert table.replace(A, {"/f": "1"}) == {"/f"}
    assert table.replace(A, {"/f": "1"}) == set()
    assert table.remove(B) == set()


def test_two_objects_that_swap_folders_both_keep_their_files() -> None:
    table = OwnerTable()
    table.replace(A, {"/one/f": "a"})
    table.replace(B, {"/two/f": "b"})

    table.replace(A, {"/two/f": "a"})
    table.replace(B, {"/one/f": "b"})

    assert table.wanted("/one/f") == Claim(B, "b")
    assert table.wanted("/two/f") == Claim(A, "a")


def test_what_is_remembered_holds_its_place_until_more_is_known() -> None:
    table = OwnerTable()
    table.replace(B, {"/f": REMEMBERED})

    assert table.replace(A, {"/f": "a"}) == set()
    assert table.remove(B) == {"/f"}
    assert table.wanted("/f") == Claim(A, "a")


def test_no_content_is_in_the_repr() -> None:
    assert "hunter2" not in repr(Claim(A, "hunter2"))
