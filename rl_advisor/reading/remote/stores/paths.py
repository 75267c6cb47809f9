"""Object stores and web servers, through fsspec: a folder (or one file) is walked and its logs are copied, its weights are not."""

import os
import time
from collections.abc import Iterable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from datetime import datetime
from functools import lru_cache
from pathlib import Path, PurePath, PurePosixPath
from typing import Any, NamedTuple
from urllib.parse import unquote, urlsplit

from rl_advisor.output import Answer
from rl_advisor.reading.remote.bounds import Bounds, client
from rl_advisor.reading.remote.listing import File, Listing
from rl_advisor.reading.run_folder import UNREAD, Entry, walked

GENERAL = True
"""Asked last: pages of other stores begin with https, too."""
EXTRAS = {"s3": "s3", "gs": "gcs", "gcs": "gcs", "http": "http", "https": "http"}
ADDRESSES = ("s3://BUCKET/RUN", "gs://BUCKET/RUN", "https://HOST/RUN/")
_CLIENTS = {"s3": "s3fs", "gcs": "gcsfs", "http": "aiohttp"}
_AT_ONCE = 8
_BLOCK = 8 << 20
_LIVES_S = 300
"""Seconds after which a client, and the key that it was given, is looked for anew."""
LARGEST_PAGE = 64 << 20
"""Bytes of one answer that is taken whole: a page that lists files, or a piece of a file."""


class _Entry(NamedTuple):
    address: str
    relative: str
    size: int | None


def claims(address: str) -> bool:
    """Whether it is one of those schemes."""
    return urlsplit(address).scheme.lower() in EXTRAS


def fetch(address: str, into: Path, bounds: Bounds) -> None:
    """Copy what a format may read, nearest first; of checkpoints only their state files."""
    store, root = _opened(address)
    found = sorted(_entries(store, root, bounds), key=lambda e: (e.relative.count("/"), e.relative))
    chosen = [(entry, place) for entry in found if (place := bounds.place(into, entry.relative)) is not None]

    def bring(entry: _Entry, place: Path) -> None:
        with store.open(entry.address, "rb", block_size=_BLOCK) as file:
            bounds.copy(file, place, entry.size if entry.size is not None else getattr(file, "size", None))

    if len(chosen) == 1:  # nothing else was asked for, so its failure is the answer
        bring(*chosen[0])
        return
    with ThreadPoolExecutor(_AT_ONCE) as pool:
        list(pool.map(lambda pair: bounds.tried(lambda: bring(*pair)), chosen))


def listed(address: str, found: Listing, bounds: Bounds) -> None:
    """Every file below the address, with what the store says of its content; names alone are asked for, a thousand at a time."""
    store, root = _opened(address)
    base = root.rstrip("/")
    if not _is_folder(store, root):
        info = store.info(root)
        found.files.append(File("", int(info.get("size") or 0), *_of_content(info)))
        return
    entries: Iterable[tuple[str, Answer]]
    if "://" in root:  # web pages may link in circles: the bounded walk
        entries = ((e.relative, {"size": e.size}) for e in _entries(store, root, bounds))
    else:
        entries = ((str(name).removeprefix(base + "/"), info) for name, info in store.find(base, detail=True).items())
    found.files += [File(path, int(info.get("size") or 0), *_of_content(info)) for path, info in entries]


def _of_content(info: Mapping[str, Any]) -> tuple[float, str]:
    """When a file was written, and the tag that its store gives its content."""
    moment = info.get("LastModified") or info.get("updated") or info.get("mtime")
    written = datetime.fromisoformat(moment) if isinstance(moment, str) else moment
    changed = written.timestamp() if isinstance(written, datetime) else 0.0
    return changed, str(info.get("ETag") or info.get("etag") or info.get("md5Hash") or info.get("generation") or "")


def _opened(address: str) -> tuple[Any, str]:
    """The file system of an address and the path in it."""
    split = urlsplit(address)
    extra = EXTRAS[split.scheme.lower()]
    client(_CLIENTS[extra], extra)
    told = tuple(sorted(pair for pair in os.environ.items() if pair[0].startswith(("AWS_", "GOOGLE_"))))
    store = _client(split.scheme.lower(), split.netloc if extra == "http" else "", told, (os.getpid(), time.monotonic() // _LIVES_S))
    return store, str(store._strip_protocol(address))  # noqa: SLF001 - what fsspec's own ``url_to_fs`` asks


@lru_cache(4)
def _client(scheme: str, _: str, __: tuple[tuple[str, str], ...], ___: tuple[int, float]) -> Any:
    """A client, which the next runs of a store are asked of as well: of a web server's host, an environment, a process and some minutes."""
    extra = EXTRAS[scheme]
    options: Answer = {"use_listings_cache": False, "skip_instance_cache": True}
    if extra == "http":
        options["get_client"] = _straight
    if extra == "gcs":
        options["session_kwargs"] = {"trace_configs": [_watch()]}
    if extra == "s3":
        bounded = {"connect_timeout": 10, "read_timeout": 60, "retries": {"max_attempts": 3}}
        options["config_kwargs"] = {**bounded, "http_session_cls": _straight_s3()}
    return client("fsspec", extra).filesystem(scheme, **options)


def _watch() -> Any:
    """What refuses, inside aiohttp, a redirect to another host, or from https to http."""
    import aiohttp

    async def look(_: Any, __: Any, answer: Any) -> None:
        asked = answer.response.url
        there = asked.join(type(asked)(answer.response.headers.get("Location", "")))
        safer = asked.scheme == "http" and there.scheme == "https" and asked.is_default_port() and there.is_default_port()
        if there.host != asked.host or not (safer or (there.scheme, there.port) == (asked.scheme, asked.port)):
            raise OSError("it redirects to another server; where that is to be read, name it instead")

    watch = aiohttp.TraceConfig()
    watch.on_request_redirect.append(look)
    return watch


async def _straight(**options: Any) -> Any:
    """A web client that watches where it is sent, and takes no page without end."""
    import aiohttp

    class Bounded(aiohttp.ClientResponse):
        """An answer that is counted as it is unpacked."""

        async def read(self) -> bytes:
            """The whole of it; raises OSError where it is longer than a page of a store."""
            pieces: list[bytes] = []
            while self._body is None and (piece := await self.content.readany()):
                pieces.append(piece)
                if sum(map(len, pieces)) > LARGEST_PAGE:
                    self.close()
                    raise OSError(f"a page is longer than {LARGEST_PAGE >> 20} MiB")
            if self._body is None:
                self._body = b"".join(pieces)
                await self._wait_released()
            return self._body

    return aiohttp.ClientSession(trace_configs=[_watch()], response_class=Bounded, **options)


def _straight_s3() -> Any:
    """The S3 client's own kind of session, which signs requests, made to watch where it is sent."""
    base = client("aiobotocore.httpsession", "s3").AIOHTTPSession

    class Straight(base):  # type: ignore[misc, valid-type]
        """One session to a proxy, or to none."""

        async def _get_session(self, proxy_url: Any) -> Any:
            session = await super()._get_session(proxy_url)
            if not session.trace_configs:
                watch = _watch()
                watch.freeze()
                session.trace_configs.append(watch)
            return session

    return Straight


def _entries(store: Any, root: str, bounds: Bounds) -> Iterator[_Entry]:
    """Files below the address that are worth a copy; the address itself when it is a file."""
    told = {} if "://" in root else _tree(root.rstrip("/"), bounds.listed)
    if not (told or _is_folder(store, root)):
        yield _Entry(root, PurePosixPath(unquote(urlsplit(root).path)).name or "run", None)
        return
    known: dict[PurePath, _Entry] = {Path(): _Entry(root.rstrip("/"), "", None)}

    def below(folder: Path) -> Iterator[Entry]:
        above = known[folder].address + "/"
        for item in () if bounds.stop.is_set() else told[above].values() if told else store.ls(above, detail=True):
            address = str(item["name"]).rstrip("/")
            name = unquote(address.removeprefix(above)) if "://" in address else address.removeprefix(above)
            if not address.startswith(above) or "?" in address:  # a web page may link anywhere
                continue
            if "/" in name:
                bounds.left_out["name"] += 1
                continue
            known[folder / name] = _Entry(address, (folder / name).as_posix(), item.get("size"))
            yield Entry(name, item["type"] == "directory")

    found = walked(below)
    bounds.left_out["count"] += bool(found.gaps)
    bounds.checkpoints += [(c.step, c.path) for c in found.checkpoints]
    yield from (known[path] for path in found.files if not path.name.lower().endswith(UNREAD))


def _tree(root: str, files: Iterable[tuple[str, int]]) -> dict[str, dict[str, Answer]]:
    """What lies in each folder, as a store answers, out of one listing of all."""
    found: dict[str, dict[str, Answer]] = {}
    for path, size in files:
        above = f"{root}/"
        for inner in PurePosixPath(path).parts[:-1]:
            found.setdefault(above, {})[inner] = {"name": above + inner, "type": "directory"}
            above += f"{inner}/"
        found.setdefault(above, {})[path] = {"name": f"{root}/{path}", "type": "file", "size": size}
    return found


def _is_folder(store: Any, root: str) -> bool:
    """Whether what is there has something below it; a web page that lists files counts as a folder.

    Raises:
        FileNotFoundError: nothing is there.
    """
    if "://" not in root:
        info = store.info(root)
        return bool(info["type"] == "directory")
    return root.endswith("/") or "html" in str(store.info(root).get("mimetype", ""))
