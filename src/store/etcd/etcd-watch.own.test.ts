/** What no available etcd does on demand: progress notifications of newer versions, interrupted fragments, compacted previous values. */
import { test, type TestContext } from "node:test";
import { deepEqual, equal, ok } from "node:assert/strict";
import { startFakeEtcd, type FakeWatch, type FakeWatchRequest } from "../../testing/servers/fake-etcd.ts";
import type { Store } from "../store.ts";
import { PODS, Seen } from "../testing/harness.ts";
import { storeOn } from "./testing/harness.ts";

const header = (revision: number) => ({ clusterId: 1n, memberId: 1n, revision });
const kv = (name: string, modRevision: number, createRevision = modRevision) => ({
  key: new TextEncoder().encode(`/registry${PODS}${name}`),
  value: new TextEncoder().encode(String(modRevision)),
  modRevision,
  createRevision,
});
const created = (revision: number) => ({ header: header(revision), created: true });
const events = (...kvs: ReturnType<typeof kv>[]) => ({ header: header(99), events: kvs.map((one) => ({ kv: one })) });

/** A store on a fake with one script per stream. */
async function scripted(
  context: TestContext,
  ...scripts: readonly ((watch: FakeWatch) => void)[]
): Promise<{ readonly store: Store; readonly starts: number[] }> {
  const starts: number[] = [];
  const onWatch = ({ create }: FakeWatchRequest, watch: FakeWatch) => {
    if (create === undefined) return;
    scripts[starts.length]?.(watch);
    starts.push(create.startRevision);
  };
  const server = await startFakeEtcd({ version: "3.5.13", onWatch });
  context.after(async () => server[Symbol.asyncDispose]());
  return { store: await storeOn(context, [server.url]), starts };
}

test("a stream that breaks within a fragmented response is resumed after the last whole revision", async (context) => {
  let first: FakeWatch | undefined;
  const { store, starts } = await scripted(
    context,
    (watch) => {
      watch.send(created(9));
      watch.send({ ...events(kv("a", 6), kv("b", 7)), fragment: true });
      first = watch;
    },
    (watch) => {
      watch.send(created(9));
      watch.send(events(kv("a", 6), kv("b", 7), kv("c", 7), kv("d", 8)));
    },
  );
  const seen = new Seen(store, PODS, 5);
  // A fragment that was not read when its stream breaks is lost.
  await seen.untilRevision(6);
  first?.break();
  await seen.untilRevision(8);

  deepEqual(starts, [5, 6]);
  deepEqual(
    seen.changes.map(({ key, revision }) => `${key.slice(PODS.length)}@${revision}`),
    ["a@6", "b@7", "c@7", "d@8"],
  );
});

test("a watch from the very beginning requests revision 1, since 0 means from now on", async (context) => {
  const { store, starts } = await scripted(context, (watch) => {
    watch.send(created(9));
    watch.send(events(kv("a", 2)));
  });
  await new Seen(store, PODS, 0).untilRevision(2);
  deepEqual(starts, [1]);
});

test("a change whose previous value was compacted ends the watch as compacted", async (context) => {
  const { store } = await scripted(context, (watch) => {
    watch.send(created(9));
    watch.send(events(kv("a", 6), kv("b", 7, 3)));
  });
  const seen = new Seen(store, PODS, 5);
  deepEqual(await seen.untilEnd(), { reason: "compacted", compactedRevision: 7 });
  equal(seen.changes.length, 1);
});

test("a watch that etcd cancels for another reason is resumed", async (context) => {
  const { store, starts } = await scripted(
    context,
    (watch) => watch.send({ header: header(9), created: true, canceled: true, cancelReason: "no particular reason" }),
    (watch) => {
      watch.send(created(9));
      watch.send(events(kv("a", 6)));
    },
  );
  await new Seen(store, PODS, 5).untilRevision(6);
  deepEqual(starts, [5, 5]);
});

test("a watch that etcd does not permit ends as failed, with the reason", async (context) => {
  const { store } = await scripted(context, (watch) => watch.refuse(7, "etcdserver: permission denied"));
  const end = await new Seen(store, PODS, 5).untilEnd();
  equal(end.reason === "failed" && (end.error as { reason: string }).reason, "Unusable");
});

test("a progress request is repeated until it is answered, and the watch continues from there", async (context) => {
  let requests = 0;
  let first: FakeWatch | undefined;
  const starts: number[] = [];
  const server = await startFakeEtcd({
    version: "3.5.13",
    onWatch: ({ create, progress }, watch) => {
      if (create !== undefined) {
        starts.push(create.startRevision);
        first ??= watch;
        watch.send(created(9));
        if (starts.length === 2) watch.send(events(kv("a", 12)));
      }
      // etcd drops the request while it is catching up; and a lagging member may report an old revision.
      if (progress !== undefined && ++requests === 2) watch.send({ header: header(4) });
      if (progress !== undefined && requests === 3) watch.send({ header: header(11) });
    },
  });
  context.after(async () => server[Symbol.asyncDispose]());
  const seen = new Seen(await storeOn(context, [server.url]), PODS, 5);

  seen.watch.requestProgress();
  seen.watch.requestProgress();
  await seen.until(({ progress }) => progress.length > 0);
  first?.break();
  await seen.untilRevision(12);

  deepEqual([seen.progress, starts], [[11], [5, 11]]);
  ok(requests >= 3, "on a busy machine it asks once more before it has read the answer");
});

test("unreliable progress notifications are neither requested nor delivered", async (context) => {
  let requests = 0;
  const server = await startFakeEtcd({
    version: "3.4.23",
    onWatch: ({ create, progress }, watch) => {
      if (progress !== undefined) requests += 1;
      if (create === undefined) return;
      equal(create.progressNotify, false);
      watch.send(created(9));
      watch.send({ header: header(9) });
      watch.send(events(kv("a", 10)));
    },
  });
  context.after(async () => server[Symbol.asyncDispose]());
  const seen = new Seen(await storeOn(context, [server.url]), PODS, 5);
  seen.watch.requestProgress();
  await seen.untilRevision(10);
  deepEqual([seen.progress, requests], [[], 0]);
});
