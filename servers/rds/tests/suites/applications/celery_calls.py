# SPDX-License-Identifier: Apache-2.0
"""Tasks of Celery over Redis as broker and as store of results. Prints "passed NAME" for what came out as it should.

    python3 celery_calls.py PORT

Starts a worker of its own, a process with two more.
"""

import datetime, os, signal, subprocess, sys, time

import celery
from celery.exceptions import Ignore, Reject

PORT = int(os.environ.get("REDIS_PORT") or sys.argv[1])
SECONDS_MAX = 60
URL = f"redis://127.0.0.1:{PORT}"

app = celery.Celery("celery_calls", broker=f"{URL}/0", backend=f"{URL}/1")
app.conf.update(
    task_acks_late=True,
    worker_prefetch_multiplier=1,
    result_expires=datetime.timedelta(minutes=5),
    broker_transport_options={"visibility_timeout": 3600, "priority_steps": [0, 3, 6, 9]},
    broker_connection_retry_on_startup=True,
    task_track_started=True,
)


@app.task
def add(a, b):
    return a + b


@app.task
def total(numbers):
    return sum(numbers)


@app.task(bind=True, max_retries=5, default_retry_delay=0)
def third_time(self):
    if self.request.retries < 2:
        raise self.retry()
    return self.request.retries


@app.task
def fails(word):
    raise ValueError(word)


@app.task(bind=True)
def tells(self):
    self.update_state(state="PROGRESS", meta={"done": 3})
    raise Ignore


@app.task(bind=True)
def rejects(self):
    raise Reject("not for me", requeue=False)


def wait(result):
    return result.get(timeout=SECONDS_MAX)


def until(what, holds):
    deadline = time.monotonic() + SECONDS_MAX
    while not holds():
        assert time.monotonic() < deadline, f"never: {what}"
        time.sleep(0.02)


def results_of_two_hundred_tasks():
    results = [add.delay(n, n) for n in range(200)]
    assert [wait(result) for result in results] == [2 * n for n in range(200)]


def a_chain():
    assert wait((add.s(1, 2) | add.s(3) | add.s(4)).apply_async()) == 10


def a_group():
    assert wait(celery.group(add.s(n, 1) for n in range(20)).apply_async()) == list(range(1, 21))


def a_chord_counts_its_parts():
    assert wait(celery.chord(add.s(n, n) for n in range(30))(total.s())) == sum(2 * n for n in range(30))


def a_chord_in_a_chain():
    parts = celery.group(add.s(n, 0) for n in range(5))
    assert wait((add.s(1, 1) | celery.chord(parts, total.s()).set(immutable=True)).apply_async()) == 10


def a_task_is_tried_again():
    assert wait(third_time.delay()) == 2


def an_error_comes_back():
    result = fails.delay("of words")
    try:
        wait(result)
    except ValueError as error:
        assert str(error) == "of words"
    assert result.state == "FAILURE"


def states_of_its_own():
    result = tells.delay()
    until("progress", lambda: result.state == "PROGRESS")
    assert result.info == {"done": 3}


def a_task_in_a_moment():
    assert wait(add.apply_async((1, 1), countdown=0.2)) == 2


def what_is_late_expires():
    past = datetime.datetime.now(datetime.timezone.utc) - datetime.timedelta(hours=1)
    result = add.apply_async((1, 1), expires=past)
    until("it is revoked", lambda: result.state == "REVOKED")


def a_task_is_revoked():
    result = add.apply_async((1, 1), countdown=3600)
    until("the worker has it", lambda: any((app.control.inspect(timeout=1).scheduled() or {}).values()))
    result.revoke()
    until("none is left", lambda: not app.control.inspect(timeout=1).scheduled() or result.id in
          [id for ids in (app.control.inspect(timeout=1).revoked() or {}).values() for id in ids])


def priorities_and_other_queues():
    assert wait(add.apply_async((2, 2), priority=9)) == 4
    assert wait(add.apply_async((2, 3), queue="other")) == 5


def workers_answer():
    assert [list(reply.values()) for reply in app.control.ping(timeout=5)] == [[{"ok": "pong"}]]
    assert list(app.control.inspect(timeout=5).registered().values())


def a_result_is_forgotten():
    result = add.delay(1, 2)
    wait(result)
    result.forget()
    assert app.AsyncResult(result.id).state == "PENDING"


SCENARIOS = [
    results_of_two_hundred_tasks, a_chain, a_group, a_chord_counts_its_parts, a_chord_in_a_chain, a_task_is_tried_again,
    an_error_comes_back, states_of_its_own, a_task_in_a_moment, what_is_late_expires, a_task_is_revoked,
    priorities_and_other_queues, workers_answer, a_result_is_forgotten,
]  # fmt: skip


def main():
    folder = os.path.dirname(os.path.abspath(__file__))
    options = ["--concurrency", "2", "--loglevel", "warning", "--queues", "celery,other", "--without-gossip"]
    worker = subprocess.Popen(
        [sys.executable, "-m", "celery", "-A", "celery_calls", "worker", *options],
        cwd=folder,
        env={**os.environ, "REDIS_PORT": str(PORT), "C_FORCE_ROOT": "1", "PYTHONDONTWRITEBYTECODE": "1"},
    )
    failures = 0
    try:
        for play in SCENARIOS:
            name = play.__name__.replace("_", " ")
            try:
                play()
                print(f"passed {name}", flush=True)
            except Exception as error:
                failures += 1
                print(f"failed {name}: {error!r}", flush=True)
    finally:
        worker.send_signal(signal.SIGTERM)
        try:
            worker.wait(SECONDS_MAX)
        except subprocess.TimeoutExpired:
            worker.kill()
    sys.exit(1 if failures else 0)


if __name__ == "__main__":
    main()
