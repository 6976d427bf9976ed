"""Talk to a Dask cluster: a request is answered, or ends with an error that says why."""

from __future__ import annotations

import asyncio
import concurrent.futures
import math
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

__all__ = ["Workers", "active_workers"]


CHECK_EVERY = 0.25  # seconds between two checks of the connection
ASK = 5.0  # seconds between two questions for workers, and for the answer
WITHOUT_WORKERS = 120.0  # seconds that workers may take to come
GONE_FOR = 20.0  # seconds after which workers that were there do not come back, nor a scheduler that does not answer
LOST = ("closing", "closed")
MORE_MEMORY = (
    "Most often their memory was full: start them with more of it (`memory_limit=`), or with fewer threads each, and "
    "call again."
)


@dataclass(frozen=True, slots=True, eq=False)
class Workers:
    """Wrap a Dask client so that its connection is checked while a result is awaited.

    Whoever waits for a client that is closed, or whose scheduler goes away, may wait for ever.
    """

    client: Any  # of the user

    def submit(self, task: Any, *given: Any, **how: Any) -> Any:
        """Submit a task to the Dask cluster and return its future."""
        return self._sent(self.client.submit, task, *given, **how)

    def compute(self, collections: Any) -> Any:
        """Submit one or several Dask collections to the cluster; return one future for each."""
        return self._sent(self.client.compute, collections)

    def _sent(self, send: Any, *given: Any, **how: Any) -> Any:
        _check_connection(self.client)
        try:
            return send(*given, **how)
        except Exception:
            _check_connection(self.client)
            raise

    def nthreads(self) -> dict[str, int]:
        """Return the number of threads of every worker of the Dask cluster; raise if the scheduler does not answer."""
        _check_connection(self.client)
        deadline = time.monotonic() + GONE_FOR
        while (found := _ask_for_threads(self.client)) is None:
            if time.monotonic() > deadline:
                raise _silent_error()
        return found

    def gather(self, futures: Any) -> Any:
        """Return the results of one future or several; raise errors of tasks, or ConnectionError for a lost cluster."""
        _check_connection(self.client)
        coroutine, loop = self.client.gather(futures, asynchronous=True), self.client.loop.asyncio_loop
        if not loop.is_running():
            coroutine.close()
            raise _lost_error("it does not run any more")
        # in the client's own loop, so that this thread can go on checking the connection
        found = asyncio.run_coroutine_threadsafe(coroutine, loop)
        try:
            self._wait(found)
            return found.result()
        except (concurrent.futures.CancelledError, asyncio.CancelledError) as error:
            _check_connection(self.client)
            raise _lost_error("it cancelled the tasks of this call") from error
        except Exception as error:
            if isinstance(error, OSError):
                _check_connection(self.client)
            if type(error).__name__ == "KilledWorker":  # of distributed, which may not be installed
                raise _killed_error() from error
            raise
        finally:
            found.cancel()

    def _wait(self, found: concurrent.futures.Future[Any]) -> None:
        """Wait until a Dask result is there; raise ConnectionError if none can come any more."""
        with_workers = answered = time.monotonic()
        asked, had_workers = -math.inf, False
        # a client that lost its scheduler waits for ever, so the connection is checked while the answer is awaited
        while not concurrent.futures.wait([found], timeout=CHECK_EVERY).done:
            _check_connection(self.client)
            if time.monotonic() - asked < ASK:
                continue
            threads = _ask_for_threads(self.client)
            asked = time.monotonic()
            if threads is not None:
                answered = asked
            elif asked - answered > GONE_FOR:
                raise _silent_error()
            if threads:
                with_workers, had_workers = asked, True
            elif asked - with_workers > (GONE_FOR if had_workers else WITHOUT_WORKERS):
                raise _no_workers_error(had_workers)


def _check_connection(client: Any) -> None:
    """Raise ConnectionError if a Dask client is closed or has lost its scheduler."""
    status = getattr(client, "status", "running")
    if status in LOST:
        raise _lost_error(f"the client is {status}")
    # a scheduler that went away shows in its connection, whatever the client's own status says
    link = getattr(client, "scheduler_comm", None)
    if status == "connecting" or (link is not None and link.closed()):
        raise _lost_error("its scheduler closed the connection")


def _ask_for_threads(client: Any) -> dict[str, int] | None:
    """Return the number of threads of every Dask worker; None if the scheduler does not answer in time."""
    try:
        threads: dict[str, int] = client.nthreads(callback_timeout=ASK)
    except (OSError, concurrent.futures.CancelledError, asyncio.CancelledError):  # a time-out among them
        _check_connection(client)
        return None
    return threads


def _lost_error(how: str) -> ConnectionError:
    """Return the ConnectionError for a Dask cluster that was lost during a call."""
    return ConnectionError(
        f"The Dask cluster went away while energystats computed on it ({how}), so this call has no result. Connect a "
        "new `distributed.Client` and call again."
    )


def _silent_error() -> ConnectionError:
    """Return the ConnectionError for a Dask scheduler that is connected but does not answer."""
    return ConnectionError(
        f"The scheduler of the Dask cluster has not answered for {GONE_FOR:g} seconds, so this call has no "
        "result. Connect a new `distributed.Client` and call again."
    )


def _no_workers_error(had_workers: bool) -> ConnectionError:
    """Return the ConnectionError for a Dask cluster without workers."""
    if had_workers:
        return ConnectionError(
            f"All workers of the Dask cluster went away during this call, and none came back within {GONE_FOR:g} "
            f"seconds, so it has no result. {MORE_MEMORY}"
        )
    return ConnectionError(
        f"The Dask cluster has had no workers for {WITHOUT_WORKERS:g} seconds, so this call has no result. Start some "
        "(`cluster.scale(n)`); where they come late, `client.wait_for_workers(1)` before the call waits for them."
    )


def _killed_error() -> ConnectionError:
    """Return the ConnectionError for a task during which several Dask workers ended."""
    return ConnectionError(
        "One worker of the Dask cluster after the other ended during the same task of this call, so it has no result. "
        f"{MORE_MEMORY}"
    )


def active_workers(client: Any, samples: Sequence[Any]) -> Workers | None:
    """Return the given Dask client, or the default one for Dask data, as `Workers`; None without either."""
    what = "`client`"
    if client is None and any(hasattr(sample, "__dask_graph__") for sample in samples):
        client, what = _find_client_in_force(), "The Dask client in force"
    if client is None or isinstance(client, Workers):
        return client
    if not (hasattr(client, "submit") and hasattr(client, "gather") and hasattr(client, "nthreads")):
        raise TypeError(f"`client` must be a distributed.Client, got {type(client).__name__}.")
    if getattr(client, "status", "running") in LOST:
        raise ValueError(f"{what} must be connected to a Dask cluster, and this one is closed.")
    try:
        _check_connection(client)
    except ConnectionError as error:
        raise ValueError(f"{what} must be connected to a Dask cluster, and this one lost its scheduler.") from error
    return Workers(client)


def _find_client_in_force() -> Any:
    """Return Dask's default client, or None if there is none."""
    if "distributed" not in sys.modules:
        return None
    try:
        return sys.modules["distributed"].default_client()
    except ValueError:  # there is none
        return None
