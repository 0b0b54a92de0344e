/** Nothing is acknowledged or visible before the disk has confirmed it. The disk of these tests confirms on request. */
import { deepEqual, equal, rejects } from "node:assert/strict";
import { test } from "node:test";
import { realClock, realMacrotask } from "../../host/real-clock.ts";
import type { Operation } from "../store.ts";
import { StoreError } from "../store-error.ts";
import { at, put } from "../testing/harness.ts";
import type { Disk } from "./disk.ts";
import { encodeHead, decodeHead, type Head, type LogRecord } from "./records.ts";
import { COMMITS_WAITING_MAX, Writer } from "./writer.ts";
import { stub } from "../../base/testing/stub.ts";

const A = "/pods/a";
const B = "/pods/b";

/** A disk whose transactions end when the test says so. */
class SlowDisk {
  readonly transactions: { readonly keys: string[]; readonly end: (error?: Error) => void }[] = [];
  readonly #heads = new Map<string, Head>();
  #open: { readonly key: string; readonly head: Head }[] = [];

  head(key: string): Head | undefined {
    const head = this.#heads.get(key);
    return head === undefined ? undefined : decodeHead(encodeHead(head));
  }

  putRecord(position: number, { key, deleted }: LogRecord): void {
    this.#open.push({ key, head: { position, deleted } });
  }

  putMeta(): void {}

  write(work: () => void): Promise<void> {
    this.#open = [];
    work();
    const records = this.#open;
    return new Promise((resolve, reject) => {
      const end = (error?: Error) => {
        if (error !== undefined) return reject(error);
        for (const { key, head } of records) this.#heads.set(key, head);
        resolve();
      };
      this.transactions.push({ keys: records.map(({ key }) => key), end });
    });
  }
}

function start(failure: StoreError = new StoreError("Full", "no space")) {
  const disk = new SlowDisk();
  const shown: number[] = [];
  const writer = new Writer({
    disk: stub<Disk>(disk),
    clock: realClock,
    revision: 1,
    keys: 0,
    onWritten: (_, revision) => shown.push(revision),
    explainFailure: async () => failure,
  });
  const answers: unknown[] = [];
  const commit = (...operations: Operation[]) => {
    const result = writer.commit(operations, (key, { position }) => ({
      key,
      revision: position / 128,
      value: { bytes: () => new Uint8Array(), sizeBytes: () => 0, memo: undefined },
    }));
    result.then(
      (answer) => answers.push(answer),
      (error: unknown) => answers.push(error),
    );
    return result;
  };
  return { disk, writer, shown, answers, commit };
}

test("a commit is neither acknowledged nor visible before its transaction ends", async () => {
  const { disk, shown, answers, commit } = start();
  const result = commit(put(A, "1"));
  for (let turn = 0; turn < 5; turn++) await realMacrotask();
  deepEqual([disk.transactions.length, shown, answers], [1, [], []]);

  disk.transactions[0]?.end();

  deepEqual(await result, { committed: true, revision: 2 });
  deepEqual(shown, [2]);
});

test("commits that arrive while the disk is busy share the next transaction, and are checked against pending ones", async () => {
  const { disk, commit } = start();
  const first = commit(put(A, "1"));
  await realMacrotask();
  const rest = [commit(put(B, "1")), commit(put(A, "2", at(2))), commit(put(A, "3", at(4)))];
  await realMacrotask();
  equal(disk.transactions.length, 1, "one at a time");

  disk.transactions[0]?.end();
  await first;
  await realMacrotask();

  deepEqual(disk.transactions[1]?.keys, [B, A, A]);
  disk.transactions[1]?.end();
  deepEqual(
    await Promise.all(rest),
    [3, 4, 5].map((revision) => ({ committed: true, revision })),
  );
});

test("a rejection that depends on a write in flight waits for it", async () => {
  const { disk, answers, commit } = start();
  const first = commit(put(A, "1"));
  const second = commit(put(A, "2", { is: "absent" }));
  for (let turn = 0; turn < 5; turn++) await realMacrotask();
  deepEqual(answers, []);

  disk.transactions[0]?.end();
  await first;
  equal((await second).committed, false);
});

test("a rejection also waits for pending writes whose preconditions held", async () => {
  const { disk, answers, commit } = start();
  const first = commit(put(B, "1"));
  await realMacrotask();
  disk.transactions[0]?.end();
  await first;
  const pending = commit(put(A, "1"));
  const refused = commit(put(A, "2", { is: "exists" }), put(B, "2", { is: "absent" }));
  for (let turn = 0; turn < 5; turn++) await realMacrotask();
  equal(answers.length, 1, "only the first is answered: that the other key was no problem gives away that it exists");

  disk.transactions[1]?.end();
  await pending;
  equal((await refused).committed, false);
});

test("a batch that does not fit takes along all commits that depended on it, and the state is restored", async () => {
  const { disk, shown, commit } = start();
  const doomed = [commit(put(A, "1"))];
  await realMacrotask();
  doomed.push(commit(put(A, "2", at(2))), commit(put(A, "3", { is: "absent" })));
  disk.transactions[0]?.end(new Error("no space"));
  for (const each of doomed) await rejects(each, { reason: "Full" });
  deepEqual(shown, []);

  const next = commit(put(A, "4", { is: "absent" }));
  await realMacrotask();
  disk.transactions[1]?.end();
  deepEqual(await next, { committed: true, revision: 2 });
});

test("after an indeterminate failure the batch is Uncertain and nothing more is written", async () => {
  const { disk, commit } = start(new StoreError("WriteFailed", "the disk is broken"));
  const first = commit(put(A, "1"));
  await realMacrotask();
  const waiting = commit(put(B, "1"));
  disk.transactions[0]?.end(new Error("EIO"));

  await rejects(first, { reason: "Uncertain" });
  await rejects(waiting, { reason: "WriteFailed" });
  await rejects(commit(put(B, "1")), { reason: "WriteFailed" });
  equal(disk.transactions.length, 1);
});

test("commits beyond the queue limit are rejected at once", async () => {
  const { disk, commit } = start();
  const accepted = Array.from({ length: COMMITS_WAITING_MAX }, () => commit(put(A, "1")));
  await rejects(commit(put(B, "1")), { reason: "Unavailable" });
  await realMacrotask();
  disk.transactions[0]?.end();
  equal((await Promise.all(accepted)).length, COMMITS_WAITING_MAX);
});
