# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""Remote models and textures: the cache, its limits, and failures of network and servers."""

import io
import socket
import threading
import time
import zipfile
from collections import Counter
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

from mvsim_core import load_world
from mvsim_core.meshes.readers import MeshError, read_mesh
from mvsim_core.resources.downloads import file_name
from mvsim_core.resources.remote_files import RETRY_AFTER, RemoteError, RemoteFiles, cache_folder
from tests.physics.worlds import world

TETRAHEDRON = b"""v 0 0 0
v 2 0 0
v 0 2 0
v 0 0 1
f 1 3 2
f 1 2 4
f 2 3 4
f 3 1 4
"""


def archive(*names):
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as file:
        for name in names:
            file.writestr(name, TETRAHEDRON)
    return out.getvalue()


class Site(ThreadingHTTPServer):
    """A web site on this machine: path → (status, headers, content, seconds before it answers)."""

    daemon_threads = True

    def __init__(self):
        self.pages, self.asked = {}, Counter()
        super().__init__(("127.0.0.1", 0), Handler)
        self.root = f"http://127.0.0.1:{self.server_address[1]}"
        threading.Thread(target=self.serve_forever, args=(0.02,), daemon=True).start()

    def put(self, path, content=TETRAHEDRON, status=200, silence=0.0, **headers):
        headers.setdefault("Content-Length", str(len(content)))
        self.pages[path] = (status, headers, content, silence)
        return self.root + path


class Handler(BaseHTTPRequestHandler):
    def do_GET(self):
        self.server.asked[self.path] += 1
        missing = (404, {"Content-Length": "0"}, b"", 0.0)
        status, headers, content, silence = self.server.pages.get(self.path, missing)
        time.sleep(silence)
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name.replace("_", "-"), value)
        self.end_headers()
        self.wfile.write(content)

    def log_message(self, *args):
        pass


@pytest.fixture
def site():
    site = Site()
    yield site
    site.shutdown()
    site.server_close()


@pytest.fixture(autouse=True)
def online(monkeypatch, tmp_path):
    """A cache for this test, and no proxy for the server on this machine."""
    monkeypatch.setenv("MVSIM_OFFLINE", "0")
    monkeypatch.setenv("MVSIM_CACHE_DIR", str(tmp_path / "cache"))
    monkeypatch.setenv("no_proxy", "127.0.0.1")


@pytest.fixture
def files(tmp_path):
    return RemoteFiles(tmp_path / "cache")


def test_a_file_is_downloaded_once(site, files, tmp_path):
    address = site.put("/m/box.obj")
    path = files.local_copy(address)
    assert path.read_bytes() == TETRAHEDRON
    assert path.name == "box.obj"
    assert files.local_copy(address) == path
    assert RemoteFiles(tmp_path / "cache").local_copy(address) == path
    assert site.asked["/m/box.obj"] == 1


def test_the_cache_tells_files_of_one_name_apart(site, files):
    first = files.local_copy(site.put("/a/box.obj"))
    second = files.local_copy(site.put("/b/box.obj", b"v 0 0 0\n"))
    assert first != second
    assert first.read_bytes() != second.read_bytes()
    third = files.local_copy(site.put("/b/box.obj?v=2", b"v 1 0 0\n"))
    assert third.read_bytes() == b"v 1 0 0\n"


def test_members_of_an_archive_share_one_download(site, files):
    root = site.put("/set.zip", archive("set/one.obj", "set/deep/two words.obj"))
    assert files.local_copy(root + "/set/one.obj").read_bytes() == TETRAHEDRON
    assert files.local_copy(root + "/set/deep/two%20words.obj").is_file()
    assert site.asked == {"/set.zip": 1}
    with pytest.raises(RemoteError, match=r"no file 'set/three.obj' \(did you mean"):
        files.local_copy(root + "/set/three.obj")
    with pytest.raises(RemoteError, match="the archive has no file"):
        files.local_copy(root + "/../../address.txt")


def test_archives_cannot_write_elsewhere(site, files, tmp_path):
    root = site.put("/evil.zip", archive("../../../evil.obj", "/evil.obj", "ok.obj"))
    assert files.local_copy(root + "/ok.obj").is_file()
    assert not list(tmp_path.glob("*.obj"))
    assert not list(tmp_path.parent.glob("evil.obj"))


@pytest.mark.parametrize(
    ("page", "reason"),
    [
        ({"status": 404}, "404"),
        ({"status": 500}, "500"),
        ({"content": b""}, "incomplete"),
        ({"Content_Length": "9999"}, "incomplete|damaged"),
        ({"Content_Type": "text/html"}, "web page"),
        ({"status": 302, "Location": "ftp://127.0.0.1/x.obj"}, "no connection"),
        ({"status": 302, "Location": "file:///etc/passwd"}, "302|no connection"),
    ],
)
def test_bad_answers_leave_nothing_behind(site, files, page, reason):
    if "Content_Length" in page:
        page = {"content": TETRAHEDRON, "Connection": "close", **page}
    address = site.put("/x.obj", **page)
    if "Content_Length" in page:
        site.pages["/x.obj"][1].pop("Content-Length", None)
    for _ in range(2):
        with pytest.raises(RemoteError, match=reason):
            files.local_copy(address)
    assert site.asked["/x.obj"] == 1  # it was not asked again at once
    assert not list(files.folder.iterdir())
    assert files.local_copy(site.put("/good.obj")).is_file()  # one bad file is not a bad host


def test_redirections_are_followed_even_with_a_page_of_their_own(site, files):
    site.put("/moved.obj", b"<html>", 302, Location="/new.obj", Content_Type="text/html")
    site.put("/new.obj")
    assert files.local_copy(site.root + "/moved.obj").read_bytes() == TETRAHEDRON


@pytest.mark.parametrize(
    ("name", "limit", "reason"),
    [("LARGEST", 20, "larger than 0 MB"), ("LONGEST", -1.0, "takes longer than -1 s")],
)
def test_downloads_are_limited(site, files, monkeypatch, name, limit, reason):
    monkeypatch.setattr(f"mvsim_core.resources.downloads.{name}", limit)
    with pytest.raises(RemoteError, match=reason):
        files.local_copy(site.put("/a.obj"))
    assert not list(files.folder.iterdir())


def test_downloads_print_nothing(site, files, capfd):
    files.local_copy(site.put("/a.obj"))
    assert capfd.readouterr() == ("", "")


def test_addresses_that_are_none_are_named(files):
    with pytest.raises(RemoteError, match=r"http://\[::1/a.obj: not a valid address"):
        files.local_copy("http://[::1/a.obj")


def test_damaged_archives_are_named(site, files):
    with pytest.raises(RemoteError, match="archive is damaged"):
        files.local_copy(site.put("/broken.zip", b"not a zip at all") + "/a.obj")
    assert not list(files.folder.iterdir())


def test_failed_addresses_are_tried_again_later(site, files, monkeypatch):
    with pytest.raises(RemoteError):
        files.local_copy(site.root + "/late.obj")
    site.put("/late.obj")
    later = time.monotonic() + RETRY_AFTER + 1
    monkeypatch.setattr("mvsim_core.resources.remote_files.time.monotonic", lambda: later)
    assert files.local_copy(site.root + "/late.obj").is_file()


def closed_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def test_an_unreachable_first_host_ends_all_attempts(site, files):
    with pytest.raises(RemoteError, match="cannot be reached"):
        files.local_copy(f"http://127.0.0.1:{closed_port()}/a.obj")
    start = time.monotonic()
    with pytest.raises(RemoteError, match="could not be reached"):
        files.local_copy(site.put("/b.obj"))
    assert time.monotonic() - start < 1.0
    assert not site.asked


def test_a_later_host_that_is_unreachable_does_not_stop_others(site, files):
    files.local_copy(site.put("/a.obj"))
    for _ in range(2):
        with pytest.raises(RemoteError, match=r"(cannot|could not) be reached"):
            files.local_copy(f"http://127.0.0.1:{closed_port()}/a.obj")
    assert files.local_copy(site.put("/b.obj")).is_file()


def test_the_budget_ends_and_the_download_continues(site, tmp_path):
    files = RemoteFiles(tmp_path / "cache", budget=0.3)
    files.local_copy(site.put("/quick.obj"))
    slow = [site.put(f"/slow{i}.obj", silence=0.4) for i in range(3)]
    start = time.monotonic()
    for address in slow:
        with pytest.raises(RemoteError, match="still downloading"):
            files.local_copy(address)
    assert time.monotonic() - start < 1.0
    files.reset_budget()
    files.budget = 5.0
    for address in slow:
        assert files.local_copy(address).is_file()
    assert set(site.asked.values()) == {1}


def test_silent_hosts_count_as_unreachable(site, files, monkeypatch):
    monkeypatch.setattr("mvsim_core.resources.downloads.SILENCE", 0.1)
    with pytest.raises(RemoteError, match="cannot be reached"):
        files.local_copy(site.put("/a.obj", silence=1.0))


def test_offline_nothing_is_asked_but_the_cache_serves(site, files, monkeypatch):
    kept = site.put("/kept.obj")
    files.local_copy(kept)
    monkeypatch.setenv("MVSIM_OFFLINE", "1")
    assert files.local_copy(kept).is_file()
    with pytest.raises(RemoteError, match="MVSIM_OFFLINE"):
        files.local_copy(site.put("/new.obj"))
    assert site.asked == {"/kept.obj": 1}


def test_a_cache_that_cannot_be_written_is_named(site, tmp_path):
    (tmp_path / "taken").write_text("a file")
    with pytest.raises(RemoteError, match="cannot be written"):
        RemoteFiles(tmp_path / "taken").local_copy(site.put("/a.obj"))


def test_models_are_read_from_their_address(site):
    mesh = read_mesh(site.put("/set.zip", archive("a/b.obj")) + "/a/b.obj")
    assert len(mesh.triangles) == 4


def test_models_that_cannot_be_read_are_not_downloaded(site):
    with pytest.raises(MeshError, match=r"\.fbx"):
        read_mesh(site.put("/man.fbx"))
    assert not site.asked


def test_the_cache_is_where_the_user_wants_it(monkeypatch, tmp_path):
    assert cache_folder() == tmp_path / "cache"
    monkeypatch.delenv("MVSIM_CACHE_DIR")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    assert cache_folder() == tmp_path / "mvsim"


@pytest.mark.parametrize(
    ("address", "name"),
    [
        ("http://h/a/b%20c.dae", "b_c.dae"),
        ("http://h/..%2F..%2Fx.obj?y=1", "x.obj"),
        ("http://h/", "file"),
        ("http://h/.hidden", "hidden"),
    ],
)
def test_names_of_files_are_harmless(address, name):
    assert file_name(address) == name


def shape_of(*addresses):
    blocks = "".join(
        f"""<block name="b{i}"><shape_from_visual/><mass>1</mass><init_pose>{3 * i} 0 0</init_pose>
        <visual><model_uri>{address}</model_uri></visual></block>"""
        for i, address in enumerate(addresses)
    )
    return load_world(text=world(blocks))


def test_worlds_take_shapes_from_remote_models(site):
    made = shape_of(site.put("/t.obj"))
    assert made.warnings == ()
    x, y = made.blocks["b0"].polygons[0].max(axis=0)
    assert (x, y) == pytest.approx((2.0, 2.0), abs=0.05)


def test_worlds_without_network_get_boxes_and_one_warning_a_model(monkeypatch):
    monkeypatch.setenv("MVSIM_OFFLINE", "1")
    start = time.monotonic()
    made = shape_of(*["http://example.invalid/a.dae"] * 3, "http://example.invalid/b.dae")
    assert time.monotonic() - start < 10.0
    texts = [p.message for p in made.warnings]
    assert len(texts) == 2
    assert "http://example.invalid/a.dae" in texts[0]
    assert "a box of 1 m is used instead" in texts[0]
    made.reset()
    assert len(made.warnings) == 2
