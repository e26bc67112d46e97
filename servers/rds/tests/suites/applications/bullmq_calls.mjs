// SPDX-License-Identifier: Apache-2.0
// Queues of BullMQ as services use them. Prints "passed NAME" for each of them that came out as it should.
//
//     node bullmq_calls.mjs PORT

import assert from "node:assert/strict";
import { once } from "node:events";
import { createRequire } from "node:module";

// From the folder that this is started in, which has the packages.
const require = createRequire(`${process.cwd()}/`);
const { FlowProducer, Queue, QueueEvents, UnrecoverableError, Worker } = require("bullmq");

const connection = { host: "127.0.0.1", port: Number(process.argv[2]), maxRetriesPerRequest: null };
const MS_MAX = 60_000;

/// A queue with the events of its jobs, and a worker unless there is no `processor`; closed when `use` is done.
async function withQueue(name, processor, options, use) {
  const queue = new Queue(name, { connection });
  const events = new QueueEvents(name, { connection });
  await events.waitUntilReady();
  const worker = processor && new Worker(name, processor, { connection, ...options });
  worker?.on("error", (error) => console.log(`${name}: ${error}`));
  try {
    await use(queue, events, worker);
  } finally {
    await worker?.close();
    await events.close();
    await queue.obliterate({ force: true });
    await queue.close();
  }
}

const finished = (job, events) => job.waitUntilFinished(events, MS_MAX);

async function until(what, holds) {
  const deadline = Date.now() + MS_MAX;
  while (!(await holds())) {
    assert(Date.now() < deadline, `never: ${what}`);
    await new Promise((resume) => setTimeout(resume, 20));
  }
}

const scenarios = {
  async "results of five hundred jobs, ten at a time"() {
    await withQueue("plain", async (job) => job.data.n * 2, { concurrency: 10 }, async (queue, events) => {
      const numbers = Array.from({ length: 500 }, (_, n) => n);
      const jobs = await queue.addBulk(numbers.map((n) => ({ name: "double", data: { n } })));
      assert.deepEqual(await Promise.all(jobs.map((job) => finished(job, events))), numbers.map((n) => 2 * n));
      assert.deepEqual(await queue.getJobCounts("completed", "failed", "wait", "active"), {
        completed: 500, failed: 0, wait: 0, active: 0,
      });
    });
  },

  async "jobs by priority, then in order"() {
    const seen = [];
    await withQueue("priorities", null, {}, async (queue, events) => {
      const jobs = [];
      for (const [name, priority] of [["d", 9], ["b", 2], ["c", 2], ["a", 1]]) {
        jobs.push(await queue.add(name, {}, { priority }));
      }
      assert.deepEqual(await queue.getCountsPerPriority([1, 2, 9]), { 1: 1, 2: 2, 9: 1 });
      const worker = new Worker("priorities", async (job) => void seen.push(job.name), { connection });
      await Promise.all(jobs.map((job) => finished(job, events)));
      await worker.close();
    });
    assert.deepEqual(seen, ["a", "b", "c", "d"]);
  },

  async "a delayed job waits, and is promoted"() {
    await withQueue("delayed", async () => "done", {}, async (queue, events) => {
      const soon = await queue.add("soon", {}, { delay: 50 });
      const late = await queue.add("late", {}, { delay: 3_600_000 });
      assert.equal(await finished(soon, events), "done");
      assert.equal(await late.getState(), "delayed");
      await late.promote();
      assert.equal(await finished(late, events), "done");
    });
  },

  async "a job that fails is tried again, and given up"() {
    const twice = async (job) => {
      if (job.name === "hopeless") throw new UnrecoverableError("no use");
      if (job.attemptsMade < 2) throw new Error("not yet");
      return job.attemptsMade;
    };
    await withQueue("retries", twice, {}, async (queue, events) => {
      const backoff = { type: "fixed", delay: 10 };
      assert.equal(await finished(await queue.add("third time", {}, { attempts: 5, backoff }), events), 2);
      const hopeless = await queue.add("hopeless", {}, { attempts: 5, backoff });
      await assert.rejects(finished(hopeless, events), /no use/);
      const [failed] = await queue.getFailed();
      assert.equal(failed.attemptsMade, 1);
      await failed.remove();
      assert.equal(await queue.getFailedCount(), 0);
    });
  },

  async "a flow runs children before their parent"() {
    const process = async (job) => {
      if (job.name !== "sum") return job.data.n;
      return Object.values(await job.getChildrenValues()).reduce((sum, n) => sum + n, 0);
    };
    await withQueue("flows", process, { concurrency: 4 }, async (queue, events) => {
      const flows = new FlowProducer({ connection });
      const children = [1, 2, 3, 4].map((n) => ({ name: "part", queueName: "flows", data: { n } }));
      const tree = await flows.add({ name: "sum", queueName: "flows", children });
      assert.equal(await finished(tree.job, events), 10);
      await flows.close();
    });
  },

  async "progress, logs and changed data of a job"() {
    const process = async (job) => {
      await job.updateProgress(40);
      await job.log("half way");
      await job.updateData({ ...job.data, seen: true });
    };
    await withQueue("logs", process, {}, async (queue, events) => {
      const progress = once(events, "progress");
      const job = await queue.add("logged", { n: 1 });
      await finished(job, events);
      assert.equal((await progress)[0].data, 40);
      assert.deepEqual((await queue.getJobLogs(job.id)).logs, ["half way"]);
      assert.deepEqual((await queue.getJob(job.id)).data, { n: 1, seen: true });
    });
  },

  async "a paused queue keeps its jobs"() {
    await withQueue("paused", async () => 1, {}, async (queue, events) => {
      await queue.pause();
      const job = await queue.add("waits", {});
      assert.equal(await queue.isPaused(), true);
      assert.equal(await queue.count(), 1);
      await queue.resume();
      assert.equal(await finished(job, events), 1);
    });
  },

  async "a job that is there is not added twice"() {
    await withQueue("once", null, {}, async (queue) => {
      await queue.add("first", {}, { jobId: "the-one" });
      await queue.add("second", {}, { jobId: "the-one" });
      assert.equal(await queue.count(), 1);
      await queue.add("a", {}, { deduplication: { id: "same" } });
      await queue.add("b", {}, { deduplication: { id: "same" } });
      assert.equal(await queue.count(), 2);
      await queue.drain();
      assert.equal(await queue.count(), 0);
    });
  },

  async "a scheduler makes a job again and again"() {
    let runs = 0;
    await withQueue("scheduled", async () => void runs++, {}, async (queue) => {
      await queue.upsertJobScheduler("tick", { every: 30 }, { name: "tick" });
      await until("three runs", () => runs >= 3);
      assert.equal((await queue.getJobSchedulers()).length, 1);
      assert.equal(await queue.removeJobScheduler("tick"), true);
    });
  },

  async "a rate is kept"() {
    const times = [];
    const limiter = { max: 2, duration: 200 };
    await withQueue("limited", async () => void times.push(Date.now()), { limiter }, async (queue, events) => {
      const jobs = await queue.addBulk(Array.from({ length: 6 }, () => ({ name: "limited", data: {} })));
      await Promise.all(jobs.map((job) => finished(job, events)));
    });
    assert(times[5] - times[0] >= 300, `six jobs took ${times[5] - times[0]} ms`);
  },

  async "a job whose worker is lost is taken over"() {
    await withQueue("stalled", null, {}, async (queue, events) => {
      const stuck = new Worker("stalled", null, { connection, lockDuration: 200, skipStalledCheck: true });
      const job = await queue.add("lost", {});
      assert.equal((await stuck.getNextJob("a token")).id, job.id);
      await stuck.close(true);
      const options = { connection, stalledInterval: 100, lockDuration: 5_000 };
      const worker = new Worker("stalled", async () => "saved", options);
      assert.equal(await finished(job, events), "saved");
      await worker.close();
    });
  },

  async "old jobs are cleaned away"() {
    await withQueue("cleaned", async () => 1, {}, async (queue, events) => {
      const kept = { removeOnComplete: { count: 3 } };
      const jobs = await queue.addBulk(Array.from({ length: 10 }, () => ({ name: "old", data: {}, opts: kept })));
      await Promise.all(jobs.map((job) => finished(job, events)));
      await until("three are kept", async () => (await queue.getCompletedCount()) === 3);
      assert.equal((await queue.clean(0, 100, "completed")).length, 3);
      assert.equal(await queue.getCompletedCount(), 0);
    });
  },
};

let failures = 0;
for (const [name, play] of Object.entries(scenarios)) {
  try {
    await play();
    console.log(`passed ${name}`);
  } catch (error) {
    failures += 1;
    console.log(`failed ${name}: ${error.stack}`);
  }
}
process.exit(failures ? 1 : 0);
