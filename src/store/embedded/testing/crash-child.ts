/**
 * The victim of the crash test: opens the store in the directory of its first argument and commits until it is killed. To standard output
 * it writes, unbuffered, what was acknowledged (`ack`) and what a watcher saw (`seen`): `<word> <revision> <key> <id>`. A value is its id,
 * filling, and its id again, so that a torn one is detected.
 */
import { writeSync } from "node:fs";
import { silentLogger } from "../../../base/logger.ts";
import { seededRandom } from "../../../base/random.ts";
import { realClock } from "../../../host/real-clock.ts";
import type { Change, Operation, Store } from "../../store.ts";
import { bytesValue } from "../../value.ts";
import { openEmbeddedStore } from "../embedded-store.ts";

const WRITERS = 8;
const KEYS = 40;
/** Often, so that most runs include compaction and cleaning, and the history of a thousand runs stays short. */
const COMMITS_PER_COMPACTION = 15;

const REVISIONS_KEPT = 200;

/** Some compactions keep nothing, so that the data also moves to smaller files. */
const COMPACTIONS_PER_WHOLE_ONE = 4;
const SHRINK_ABOVE_BYTES = 500_000;

const [directory = "", seed = "1"] = process.argv.slice(2);
const random = seededRandom(Number(seed));
const store = await openEmbeddedStore({ directory, clock: realClock, log: silentLogger, shrinkAboveBytes: SHRINK_ABOVE_BYTES });
const watcher = {
  changes: (changes: readonly Change[]) => changes.forEach((change) => say("seen", change.revision, change)),
  ended: () => undefined,
};
store.watch("/pods/", { after: await store.currentRevision() }, watcher);
writeSync(1, `open ${await store.currentRevision()}\n`);
await Promise.all(Array.from({ length: WRITERS }, (_, writer) => writeForEver(store, writer)));

async function writeForEver(target: Store, writer: number): Promise<never> {
  for (let count = 0; ; count++) {
    const id = `${seed}-${writer}-${count}`;
    const operations = draw(id);
    const result = await target.commit(operations);
    if (result.committed) operations.forEach((operation) => say("ack", result.revision, operation));
    if (writer === 0 && count % COMMITS_PER_COMPACTION === COMMITS_PER_COMPACTION - 1) {
      const kept = random.below(COMPACTIONS_PER_WHOLE_ONE) === 0 ? 0 : REVISIONS_KEPT;
      await target.compact(Math.max(1, (await target.currentRevision()) - kept));
    }
  }
}

/** A put, a deletion (rejected if the key does not exist), or two puts in one commit. */
function draw(id: string): Operation[] {
  const name = `p${random.below(KEYS)}`;
  const value = bytesValue(new TextEncoder().encode(`${id} ${"x".repeat(random.below(3_000))} ${id}`));
  const pod: Operation = { type: "put", key: `/pods/${name}`, value };
  switch (random.below(8)) {
    case 0:
      return [{ type: "delete", key: pod.key, precondition: { is: "exists" } }];
    case 1:
      return [pod, { type: "put", key: `/twins/${name}`, value }];
    default:
      return [pod];
  }
}

function say(
  word: string,
  revision: number,
  what: { readonly key: string; readonly type: string; readonly value?: { bytes(): Uint8Array } },
): void {
  const id = what.value === undefined ? "-" : new TextDecoder().decode(what.value.bytes()).split(" ")[0];
  writeSync(1, `${word} ${revision} ${what.key} ${id}\n`);
}
