/** After SIGKILL at any time the store has every write that was acknowledged or observed, complete, at a revision that did not decrease. */
import { deepEqual, equal, ok } from "node:assert/strict";
import { once } from "node:events";
import { spawn } from "node:child_process";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { setTimeout as sleep } from "node:timers/promises";
import { test } from "node:test";
import { silentLogger } from "../../base/logger.ts";
import { seededRandom, type Random } from "../../base/random.ts";
import { realClock } from "../../host/real-clock.ts";
import { rounds, testSeed } from "../../testing/rounds.ts";
import type { Store } from "../store.ts";
import { Seen, textOf } from "../testing/harness.ts";
import { openEmbeddedStore } from "./embedded-store.ts";

/** Maximum time from the first commit to the kill. */
const LIFE_MS_MAX = 150;
const ROUNDS_PER_CERTAIN_COMMIT = 5;

interface Line {
  readonly word: string;
  readonly revision: number;
  readonly key: string;
  /** The written value; "-" for a deletion. */
  readonly id: string;
}

test(`the embedded store survives ${rounds({ quick: 20, full: 1_000 })} SIGKILLs at random times (K8TS_SEED=${testSeed()})`, async () => {
  const directory = await mkdtemp(join(tmpdir(), "k8ts-crash-"));
  const random = seededRandom(testSeed());
  let reached = 1;
  let acknowledged = 0;
  for (let round = 0; round < rounds({ quick: 20, full: 1_000 }); round++) {
    const lines = await runAndKill(directory, round, random);
    const store = await openEmbeddedStore({ directory, clock: realClock, log: silentLogger });
    reached = await checkSurvival(store, lines, reached);
    acknowledged += lines.filter(({ word }) => word === "ack").length;
    await store.close();
  }
  ok(acknowledged > 0, "the children must have committed something");
  await rm(directory, { recursive: true });
});

async function runAndKill(directory: string, round: number, random: Random): Promise<Line[]> {
  const program = join(import.meta.dirname, "testing", "crash-child.js");
  const child = spawn(process.execPath, [program, directory, String(round)], { stdio: ["ignore", "pipe", "inherit"] });
  const lines: Line[] = [];
  const output = createInterface({ input: child.stdout });
  const opened = once(output, "line"); // Its first line reports that it is open.
  const acknowledged = new Promise<void>((resolve) => output.on("line", (line) => void (line.startsWith("ack ") && resolve())));
  output.on("line", (line) => lines.push(parse(line)));
  const ended = once(child, "exit").then(() => Promise.reject(new Error("The child ended by itself")));
  ended.catch(() => undefined);
  await Promise.race([opened, ended]);
  // The delay is the subject of this test: a time that nothing in the child determines.
  await sleep(random.fraction() * LIFE_MS_MAX);
  // On a busy disk that may be too short for any commit; some children live long enough for one.
  if (round % ROUNDS_PER_CERTAIN_COMMIT === 0) await Promise.race([acknowledged, ended]);
  child.kill("SIGKILL");
  const [, signal] = (await once(child, "close")) as [number | null, string | null];
  equal(signal, "SIGKILL", "the child must not have ended by itself");
  return lines.filter(({ word }) => word !== "open");
}

function parse(line: string): Line {
  const [word = "", revision = "", key = "", id = ""] = line.split(" ");
  return { word, revision: Number(revision), key, id };
}

/** Returns the revision of the store. */
async function checkSurvival(store: Store, lines: readonly Line[], reached: number): Promise<number> {
  const newest = await store.currentRevision();
  ok(newest >= Math.max(reached, ...lines.map(({ revision }) => revision)), `the revision fell to ${newest}`);
  const { compactedRevision } = await store.statistics();
  for (const { revision, key, id } of lines) {
    if (revision < compactedRevision) continue;
    const entry = await store.get(key, { revision });
    if (id === "-") equal(entry, undefined, `${key} was deleted at revision ${revision}`);
    else deepEqual([entry?.revision, textOf(entry?.value ?? { bytes: () => new Uint8Array() }).split(" ")[0]], [revision, id]);
  }
  await checkWhole(store);
  await checkHistory(store, lines, compactedRevision);
  return newest;
}

/** No value is torn, and commits are atomic. */
async function checkWhole(store: Store): Promise<void> {
  for (const { key, value, revision } of (await store.list("")).entries) {
    if (!/^\/(pods|twins)\//.test(key)) continue;
    const [first, filling = "", last] = textOf(value).split(" ");
    ok(first === last && /^x*$/.test(filling), `${key} at revision ${revision} is torn`);
    if (!key.startsWith("/twins/")) continue;
    const twin = await store.get(key.replace("twins", "pods"), { revision }).catch(() => "compacted" as const);
    if (twin !== "compacted") equal(twin?.revision, revision, `${key} lost its twin`);
  }
}

/** A watch from the oldest kept revision shows every write that the child's watcher had observed, in the same order. */
async function checkHistory(store: Store, lines: readonly Line[], compactedRevision: number): Promise<void> {
  const seen = lines.filter(({ word, revision }) => word === "seen" && revision > compactedRevision);
  if (seen.length === 0) return;
  const replay = new Seen(store, "/pods/", compactedRevision);
  await replay.untilRevision(seen.at(-1)?.revision ?? 0);
  const first = seen[0]?.revision ?? 0;
  const last = seen.at(-1)?.revision ?? 0;
  const replayed = replay.changes.filter(({ revision }) => revision >= first && revision <= last);
  deepEqual(
    replayed.map(({ revision, key }) => `${revision} ${key}`),
    seen.map(({ revision, key }) => `${revision} ${key}`),
  );
  replay.watch.close();
}
