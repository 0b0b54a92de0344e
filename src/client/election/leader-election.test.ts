import assert from "node:assert/strict";
import { test } from "node:test";
import { leases } from "../../api/coordination.k8s.io/v1/lease.ts";
import { onAbort } from "../../base/abort.ts";
import { silentLogger } from "../../base/logger.ts";
import { seededRandom } from "../../base/random.ts";
import { createEventRecorder } from "../events/create-event-recorder.ts";
import { events } from "../../api/core/v1/event.ts";
import { electionProblems } from "./leader-election.ts";
import { LEASE, openHall } from "./testing/candidates.ts";

const DEATHS = 20;

test("the first candidate becomes leader at once and writes the Lease like client-go", async () => {
  await using hall = await openHall();
  const a = hall.stand("a");
  await hall.clock.settle();

  assert.equal(a.election.isLeading(), true);
  assert.equal(a.election.leader, "a");
  assert.deepEqual((await hall.lease()).spec, {
    holderIdentity: "a",
    leaseDurationSeconds: 15,
    acquireTime: "2026-01-01T00:00:00.000000Z",
    renewTime: "2026-01-01T00:00:00.000000Z",
    leaseTransitions: 0,
  });
  await hall.clock.advance(4_000);
  const { spec } = await hall.lease();
  assert.deepEqual([spec?.acquireTime, spec?.renewTime], ["2026-01-01T00:00:00.000000Z", "2026-01-01T00:00:04.000000Z"]);
});

test("when the leader dies, another candidate takes over after the lease duration", async () => {
  await using hall = await openHall();
  const a = hall.stand("a");
  await hall.clock.settle();
  hall.stand("b");
  await hall.clock.advance(5_000);

  a.process.kill();
  const { identity, tookMs } = await hall.nextLeader("a");

  // The last renewal was at 4 s.
  assert.deepEqual([identity, tookMs], ["b", 14_000]);
  assert.equal((await hall.lease()).spec?.leaseTransitions, 1);
  assert.deepEqual(hall.violations, []);
});

test("of five candidates exactly one leads, however many leaders die", async () => {
  await using hall = await openHall();
  const standing = new Map(["a", "b", "c", "d", "e"].map((name) => [name, hall.stand(name)]));
  let { identity } = await hall.nextLeader();

  for (let death = 1; death <= DEATHS; death++) {
    await hall.clock.advance(500 * death);
    standing.get(identity)?.process.kill();
    standing.delete(identity);
    const successor = `successor-${death}`;
    standing.set(successor, hall.stand(successor));
    const next = await hall.nextLeader(identity);
    assert.ok(next.tookMs <= 15_000, `death ${death} took ${next.tookMs} ms`);
    identity = next.identity;
  }

  assert.equal((await hall.lease()).spec?.leaseTransitions, DEATHS);
  assert.deepEqual(hall.violations, []);
});

test("a leader that stops releases the Lease, and the next candidate takes over immediately", async () => {
  await using hall = await openHall();
  const a = hall.stand("a");
  await hall.clock.settle();
  const b = hall.stand("b");
  await hall.clock.advance(5_300);

  const stopped = a.election.stop();
  await hall.clock.settle();
  await stopped;

  assert.equal(b.election.isLeading(), true);
  assert.deepEqual(hall.log, ["a leads at 0", "a ends at 5.3", "b leads at 5.3"]);
  const { spec } = await hall.lease();
  assert.deepEqual([spec?.holderIdentity, spec?.leaseTransitions, spec?.acquireTime], ["b", 1, "2026-01-01T00:00:05.300000Z"]);
});

test("the Lease is released only after the leader's work and onStoppedLeading have ended, and is renewed until then", async () => {
  await using hall = await openHall();
  const steps: string[] = [];
  const a = hall.stand("a", {
    async onStartedLeading(signal) {
      await hall.clock.sleep(1e9, signal).catch(() => undefined);
      await hall.clock.sleep(30_000);
      steps.push(`work ended at ${hall.clock.monotonic()}`);
    },
    async onStoppedLeading() {
      await hall.clock.sleep(30_000);
      steps.push(`stopped at ${hall.clock.monotonic()}`);
    },
  });
  await hall.clock.settle();
  const b = hall.stand("b", { onStartedLeading: () => void steps.push(`b leads at ${hall.clock.monotonic()}`) });
  await hall.clock.advance(1_000);

  const stopped = a.election.stop();
  assert.equal(a.election.isLeading(), false);
  await hall.clock.advance(60_000);
  await stopped;

  assert.deepEqual(steps, ["work ended at 31000", "stopped at 61000", "b leads at 61000"]);
  assert.equal(b.election.leader, "b");
});

/** Work that starts again on every term and ends only when it is `let`. */
function stubbornWork(note: (what: string) => void) {
  const ends: (() => void)[] = [];
  return {
    let: () => ends.shift()?.(),
    options: {
      workGraceMs: 10_000,
      onStartedLeading: () => new Promise<void>((resolve) => (note("a leads"), ends.push(resolve))),
      onStoppedLeading: () => note("a has ended"),
      onGivenUp: () => note("a is given up"),
    },
  };
}

test("work that exceeds the stop timeout is abandoned: stop resolves, and the Lease expires instead of being renewed", async () => {
  await using hall = await openHall();
  const steps: string[] = [];
  const note = (what: string) => void steps.push(`${what} at ${hall.clock.monotonic() / 1_000}`);
  const a = hall.stand("a", stubbornWork(note).options);
  await hall.clock.settle();
  hall.stand("b", { onStartedLeading: () => note("b leads") });
  await hall.clock.advance(1_000);

  const stopped = a.election.stop().then(() => note("a has stopped"));
  await hall.clock.advance(60_000);
  await stopped;

  // The last renewal was at 10 s, while the stop could still complete.
  assert.deepEqual(steps, ["a leads at 0", "a is given up at 11", "a has stopped at 11", "b leads at 25"]);
});

test("a candidate whose work was abandoned after a loss stands for election again only when that work has ended", async () => {
  await using hall = await openHall();
  const steps: string[] = [];
  const note = (what: string) => void steps.push(`${what} at ${hall.clock.monotonic() / 1_000}`);
  const work = stubbornWork(note);
  hall.stand("a", work.options);
  await hall.clock.advance(5_000);

  // The other holder never renews, so that the Lease expires at 20 s.
  await hall.client.patch(leases, LEASE, { type: "merge", value: { spec: { holderIdentity: "stranger" } } });
  await hall.clock.advance(95_000);
  assert.deepEqual(steps, ["a leads at 0", "a is given up at 15"]);

  work.let();
  await hall.clock.advance(5_000);
  assert.deepEqual(steps.slice(2, 3), ["a has ended at 100"]);
  assert.match(steps[3] ?? "", /^a leads at 10\d/);
  work.let();
});

test("a leader that cannot hold the Lease until its work has ended aborts `lost` before another candidate may lead", async () => {
  await using hall = await openHall();
  const steps: string[] = [];
  const note = (what: string) => void steps.push(`${what} at ${hall.clock.monotonic()}`);
  const a = hall.stand("a", {
    onStartedLeading(signal, lost) {
      onAbort(signal, () => note("to end"));
      onAbort(lost, () => note("lost"));
      return hall.clock.sleep(40_000);
    },
  });
  await hall.clock.settle();
  hall.stand("b", { onStartedLeading: () => note("b leads") });
  await hall.clock.advance(5_000);

  a.process.cut("silent");
  const stopped = a.election.stop();
  await hall.clock.advance(60_000);
  await stopped;

  assert.deepEqual(steps, ["to end at 5000", "lost at 14000", "b leads at 19000"]);
});

test("a leader that stops without releasing the Lease makes others wait for its expiry", async () => {
  await using hall = await openHall();
  const a = hall.stand("a", { releaseOnStop: false });
  await hall.clock.settle();
  hall.stand("b");
  await hall.clock.advance(1_000);

  await a.election.stop();

  assert.equal((await hall.lease()).spec?.holderIdentity, "a");
  assert.equal((await hall.nextLeader("a")).tookMs, 14_000);
});

test("leader election works with wall clocks that are years apart", async () => {
  await using hall = await openHall();
  const decadeMs = 315_360_000_000;
  const a = hall.stand("a", { skewMs: decadeMs });
  await hall.clock.settle();
  const b = hall.stand("b", { skewMs: -decadeMs });
  await hall.clock.advance(60_000);
  assert.deepEqual([a.election.isLeading(), b.election.isLeading()], [true, false]);

  a.process.kill();
  assert.deepEqual(await hall.nextLeader("a"), { identity: "b", tookMs: 15_000 });
  hall.stand("c", { skewMs: decadeMs });
  await hall.clock.advance(60_000);

  assert.deepEqual([b.election.isLeading(), hall.violations], [true, []]);
  assert.equal((await hall.lease()).spec?.acquireTime?.slice(0, 4), "2016");
});

for (const network of ["refused", "silent", "lost answers"] as const) {
  test(`a leader whose network is ${network} for less than the renew deadline stays leader`, async () => {
    await using hall = await openHall();
    const a = hall.stand("a");
    await hall.clock.settle();
    hall.stand("b");
    await hall.clock.advance(1_000);

    a.process.cut(network);
    await hall.clock.advance(4_500);
    a.process.network = "connected";
    await hall.clock.advance(60_000);

    assert.deepEqual(hall.log, ["a leads at 0"]);
    assert.deepEqual(hall.violations, []);
  });

  test(`a leader whose network is ${network} for longer stops before another leads, and then stands for election again`, async () => {
    await using hall = await openHall();
    const a = hall.stand("a");
    await hall.clock.settle();
    const b = hall.stand("b");
    await hall.clock.advance(1_000);

    a.process.cut(network);
    await hall.clock.advance(40_000);
    // Renewals whose responses were lost still count: each made the other candidates wait longer.
    const firstWrites = network === "lost answers" ? ["a leads at 0", "a ends at 10"] : ["a leads at 0", "a ends at 10", "b leads at 15"];
    assert.deepEqual(hall.log.slice(0, firstWrites.length), firstWrites);
    a.process.network = "connected";
    await hall.clock.advance(60_000);
    b.process.kill();
    const next = await hall.nextLeader("b");

    assert.equal(next.identity, "a");
    assert.deepEqual(hall.violations, []);
  });
}

test("a candidate that lost the Lease does not release it, even if the Lease still names it when the network is back", async () => {
  await using hall = await openHall();
  const a = hall.stand("a", {
    async onStartedLeading(signal) {
      await hall.clock.sleep(1e9, signal).catch(() => undefined);
      await hall.clock.sleep(2_000);
    },
  });
  await hall.clock.settle();
  const b = hall.stand("b");
  await hall.clock.advance(1_000);
  a.process.cut("refused");
  // Lost at 10 s; until 15 s no other candidate may take it.
  await hall.clock.advance(10_000);
  a.process.network = "connected";
  await hall.clock.advance(1_500);

  assert.equal((await hall.lease()).spec?.holderIdentity, "a");
  assert.equal(b.election.isLeading(), false);
});

test("a leader resumed after SIGSTOP knows that it is not the leader before it runs any timer", async () => {
  await using hall = await openHall();
  const a = hall.stand("a");
  await hall.clock.settle();
  const b = hall.stand("b");
  await hall.clock.advance(5_000);

  a.process.freeze();
  await hall.clock.advance(9_000);
  assert.equal(a.election.isLeading(), false, "the deadline has passed at 14 s");
  await hall.clock.advance(11_000);
  assert.equal(b.election.isLeading(), true);
  assert.equal(hall.log.includes("a ends at 25"), false);
  a.process.thaw();
  await hall.clock.settle();

  assert.deepEqual(hall.log, ["a leads at 0", "b leads at 19", "a ends at 25"]);
  await hall.clock.advance(60_000);
  assert.deepEqual([b.election.isLeading(), hall.violations], [true, []]);
});

for (const [frozenMs, times] of [
  [12_000, {}],
  // Here one request may take longer than the renew deadline.
  [700, { leaseDurationMs: 1_000, renewDeadlineMs: 500, retryPeriodMs: 200 }],
] as const) {
  test(`a candidate that is frozen for ${frozenMs} ms while it acquires the Lease does not start to lead with it`, async () => {
    await using hall = await openHall();
    const a = hall.stand("a", times);
    a.process.freeze();
    await hall.clock.advance(frozenMs);
    assert.equal((await hall.lease()).spec?.holderIdentity, "a");
    a.process.thaw();
    await hall.clock.settle();
    assert.deepEqual(hall.log, []);

    await hall.clock.advance(5_000);
    assert.equal(a.election.isLeading(), true);
  });
}

test("a deleted Lease is created again by its holder, and no other candidate takes it", async () => {
  await using hall = await openHall();
  const a = hall.stand("a");
  await hall.clock.settle();
  hall.stand("b");
  await hall.clock.advance(5_000);
  const before = await hall.lease();

  await hall.client.delete(leases, LEASE);
  await hall.clock.settle();
  const after = await hall.lease();

  assert.notEqual(after.metadata.uid, before.metadata.uid);
  assert.deepEqual([after.spec?.holderIdentity, after.spec?.acquireTime], ["a", before.spec?.acquireTime]);
  await hall.clock.advance(30_000);
  assert.deepEqual([hall.log, a.election.isLeading(), hall.violations], [["a leads at 0"], true, []]);
});

test("a Lease deleted while its holder is unreachable is acquired once the holder has certainly stopped", async () => {
  await using hall = await openHall();
  const a = hall.stand("a");
  await hall.clock.settle();
  hall.stand("b");
  await hall.clock.advance(5_000);

  a.process.cut("silent");
  await hall.client.delete(leases, LEASE);

  assert.deepEqual(await hall.nextLeader("a"), { identity: "b", tookMs: 15_000 });
  assert.deepEqual([hall.log, hall.violations], [["a leads at 0", "a ends at 14", "b leads at 20"], []]);
});

test("a leader stops at once when a third party writes another holder into the Lease", async () => {
  await using hall = await openHall();
  const a = hall.stand("a");
  await hall.clock.settle();
  await hall.clock.advance(5_000);

  const stranger = { spec: { holderIdentity: "stranger" } };
  await hall.client.patch(leases, LEASE, { type: "merge", value: stranger });

  assert.equal(a.election.isLeading(), false);
  assert.deepEqual([hall.log.at(-1), a.election.leader], ["a ends at 5", "stranger"]);
  // The third party never renews.
  const { identity, tookMs } = await hall.nextLeader();
  assert.deepEqual([identity, tookMs, (await hall.lease()).spec?.leaseTransitions], ["a", 15_000, 1]);
});

test("a leader that cannot watch learns from its next renewal that another candidate holds the Lease", async () => {
  await using hall = await openHall();
  hall.stand("a", { mayWatch: false });
  await hall.clock.settle();
  await hall.client.patch(leases, LEASE, { type: "merge", value: { spec: { holderIdentity: "stranger" } } });

  await hall.clock.advance(2_000);

  assert.deepEqual(hall.log, ["a leads at 0", "a ends at 2"]);
});

test("foreign labels on the Lease do not affect the leader, are preserved, and do not count as renewal", async () => {
  await using hall = await openHall();
  const a = hall.stand("a");
  await hall.clock.settle();
  hall.stand("b");
  const label = (value: string) => hall.client.patch(leases, LEASE, { type: "merge", value: { metadata: { labels: { note: value } } } });
  await label("one");
  await hall.clock.advance(5_000);
  assert.deepEqual([a.election.isLeading(), (await hall.lease()).metadata.labels], [true, { note: "one" }]);

  a.process.kill();
  await hall.clock.advance(10_000);
  await label("two");
  assert.equal((await hall.nextLeader("a")).tookMs, 4_000);

  assert.deepEqual((await hall.lease()).metadata.labels, { note: "two" });
});

test("a candidate without permission to watch still takes over by polling", async () => {
  await using hall = await openHall();
  const a = hall.stand("a");
  await hall.clock.settle();
  hall.stand("b", { mayWatch: false });
  await hall.clock.advance(1_000);

  await a.election.stop();
  const { identity, tookMs } = await hall.nextLeader("a");

  assert.equal(identity, "b");
  assert.ok(tookMs > 0 && tookMs <= 4_400, `${tookMs} ms`);
});

test("a candidate with the holder's identity, such as the same one after a restart, leads at once", async () => {
  await using hall = await openHall();
  const a = hall.stand("a");
  await hall.clock.advance(1_000);
  a.process.kill();
  const again = hall.stand("a");
  await hall.clock.settle();

  assert.equal(again.election.isLeading(), true);
  assert.deepEqual(
    [(await hall.lease()).spec?.leaseTransitions, (await hall.lease()).spec?.acquireTime],
    [0, "2026-01-01T00:00:00.000000Z"],
  );
});

test("a leader whose work fails leaves the Lease to another candidate", async () => {
  await using hall = await openHall();
  let starts = 0;
  hall.stand("a", { onStartedLeading: () => Promise.reject(new Error(`start ${++starts}`)) });
  await hall.clock.settle();
  assert.equal((await hall.lease()).spec?.holderIdentity, "");
  const b = hall.stand("b");
  await hall.clock.advance(60_000);

  assert.deepEqual([starts, b.election.isLeading()], [1, true]);
});

test("a single candidate whose work fails retries only after a delay", async () => {
  await using hall = await openHall();
  let starts = 0;
  hall.stand("a", { onStartedLeading: () => Promise.reject(new Error(`start ${++starts}`)) });

  await hall.clock.advance(44_000);

  assert.ok(starts >= 10 && starts <= 22, `${starts} starts`);
});

test("stop resolves at once while there is no leader, even if no response comes", async () => {
  await using hall = await openHall();
  const a = hall.stand("a", { network: "silent" });
  const b = hall.stand("b", { network: "refused" });
  await hall.clock.settle();

  let stopped = false;
  void Promise.all([a.election.stop(), b.election.stop()]).then(() => (stopped = true));
  await hall.clock.settle();

  assert.equal(stopped, true);
  await assert.rejects(hall.lease(), /not found/);
});

test("every candidate is notified of the leader, once per change", async () => {
  await using hall = await openHall();
  const received: string[] = [];
  const a = hall.stand("a", { onNewLeader: (identity) => received.push(`a: ${identity}`) });
  await hall.clock.settle();
  hall.stand("b", { onNewLeader: (identity) => received.push(`b: ${identity}`) });
  await hall.clock.advance(10_000);
  await a.election.stop();
  await hall.clock.advance(10_000);

  assert.deepEqual(received, ["a: a", "b: a", "b: b"]);
});

test("leader changes are recorded as Events on the Lease", async () => {
  await using hall = await openHall();
  const { clock, client } = hall;
  await using recorder = createEventRecorder({ client, component: "k8ts", clock, random: seededRandom(1), log: silentLogger });
  const a = hall.stand("a", { events: recorder });
  await clock.advance(1_000);
  await a.election.stop();
  await clock.advance(1_000);

  const recorded = (await client.list(events, LEASE)).items.map(({ type, reason, message, involvedObject: { kind, name } }) => ({
    recorded: `${type} ${reason} ${kind}/${name}`,
    message,
  }));
  assert.deepEqual(recorded, [
    { recorded: "Normal LeaderElection Lease/web", message: "a became leader" },
    { recorded: "Normal LeaderElection Lease/web", message: "a stopped leading" },
  ]);
});

test("a standby sends one read per retry period, a leader one write", async () => {
  await using hall = await openHall();
  const a = hall.stand("a");
  await hall.clock.settle();
  const b = hall.stand("b");
  await hall.clock.advance(60_000);

  assert.deepEqual([...new Set(b.process.requests)], ["get"]);
  assert.ok(b.process.requests.length <= 31, `${b.process.requests.length} looks`);
  assert.deepEqual(
    a.process.requests.slice(2).filter((verb) => verb !== "update"),
    [],
  );
  assert.equal(a.process.requests.length, 32);
});

test("durations under which two candidates could lead are rejected, with one message per mistake", async () => {
  assert.deepEqual(electionProblems({}), []);
  assert.deepEqual(electionProblems({ leaseDurationMs: 10_000 }), [
    "leaseDurationMs must be greater than renewDeadlineMs (10000), is 10000",
  ]);
  assert.deepEqual(electionProblems({ renewDeadlineMs: 2_400 }), [
    "renewDeadlineMs must be greater than 1.2 times retryPeriodMs (2000), is 2400",
  ]);
  assert.deepEqual(electionProblems({ leaseDurationMs: 0, renewDeadlineMs: -1, retryPeriodMs: Number.NaN }), [
    "leaseDurationMs must be greater than 0, is 0",
    "renewDeadlineMs must be greater than 0, is -1",
    "retryPeriodMs must be greater than 0, is NaN",
    "renewDeadlineMs must be greater than 1.2 times retryPeriodMs (NaN), is -1",
  ]);
  await using hall = await openHall();
  assert.throws(() => hall.stand(""), /Cannot take part in the election: identity must not be empty/);
});
