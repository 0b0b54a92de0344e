import { deepEqual, equal, ok } from "node:assert/strict";
import { appendFile, mkdtemp, rm, stat } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import type { CauseRecord } from "../../apiserver/framework/recording/causes.ts";
import { causeLine } from "../../apiserver/storage/cause-line.ts";
import { REFUSALS_MAX } from "../../apiserver/storage/recorded-causes.ts";
import { openBoundedLineLog, readLineLog } from "../../host/files/bounded-line-log.ts";
import { realClock } from "../../host/real-clock.ts";
import type { Store } from "../../store/store.ts";
import { openCauseLog, type OpenedCauseLog } from "./cause-log.ts";

const RECORD: CauseRecord = {
  id: 1,
  timeMs: 1_000,
  revision: 5,
  requestId: "r",
  ...{ verb: "create", group: "apps", plural: "deployments", subresource: "", namespace: "default", name: "web" },
  ...{ user: "jane", userAgent: "kubectl" },
};
const REFUSED: CauseRecord = {
  ...RECORD,
  id: 2,
  revision: 0,
  cause: { controller: "c", key: "k" },
  admission: [{ plugin: "Priority", changed: ["spec.priority"] }],
  refusal: { code: 403, reason: "Forbidden", message: "no", stage: "admission", plugin: "ResourceQuota" },
};

async function inDirectory(use: (directory: string) => Promise<void>): Promise<void> {
  const directory = await mkdtemp(join(tmpdir(), "k8ts-causes-"));
  try {
    await use(directory);
  } finally {
    await rm(directory, { recursive: true });
  }
}

function append(opened: OpenedCauseLog | undefined, record: CauseRecord): void {
  if (record.refusal === undefined) opened?.log?.appendCommit(causeLine(record));
  else opened?.log?.appendRefusal(causeLine(record));
}

test("the cause log survives a restart and a torn tail, without revisions that the store does not have", () =>
  inDirectory(async (dataDirectory) => {
    const config = { driver: "embedded", dataDirectory } as const;
    const store = { currentRevision: () => Promise.resolve(6) } as Store;
    const first = await openCauseLog(config, store, realClock);
    for (const record of [RECORD, REFUSED, { ...RECORD, id: 3, revision: 7 }]) append(first, record);
    await first?.[Symbol.asyncDispose]();
    await appendFile(join(dataDirectory, "causes.jsonl"), causeLine(RECORD).slice(0, 20));

    const second = await openCauseLog(config, store, realClock);
    append(second, { ...RECORD, id: 4 });
    await second?.[Symbol.asyncDispose]();
    const third = await openCauseLog(config, store, realClock);
    await third?.[Symbol.asyncDispose]();

    deepEqual(second?.earlier, [RECORD, REFUSED]);
    deepEqual(third?.earlier, [RECORD, REFUSED, { ...RECORD, id: 4 }]);
  }));

test("refused requests displace no commits in the cause log", () =>
  inDirectory(async (dataDirectory) => {
    const config = { driver: "embedded", dataDirectory } as const;
    const store = { currentRevision: () => Promise.resolve(6) } as Store;
    const first = await openCauseLog(config, store, realClock);
    append(first, RECORD);
    for (let id = 2; id < 10_000; id++) append(first, { ...REFUSED, id });
    await first?.[Symbol.asyncDispose]();

    const second = await openCauseLog(config, store, realClock);
    await second?.[Symbol.asyncDispose]();

    deepEqual(second?.earlier?.[0], RECORD);
    equal(second?.earlier?.length, 1 + REFUSALS_MAX);
  }));

test("a bounded line log keeps the last lines in two files of limited size", () =>
  inDirectory(async (directory) => {
    const path = join(directory, "log");
    const fileBytesMax = 100_000;
    const log = await openBoundedLineLog(path, { fileBytesMax });
    for (let index = 0; index < 50_000; index++) log.append(`line ${index}`);
    await log[Symbol.asyncDispose]();

    const lines = await readLineLog(path);

    const sizes = await Promise.all([path, `${path}.1`].map(async (file) => (await stat(file)).size));
    ok(sizes.every((size) => size < fileBytesMax * 2));
    deepEqual(lines.at(-1), "line 49999");
    deepEqual(
      lines,
      Array.from({ length: lines.length }, (_, index) => `line ${50_000 - lines.length + index}`),
    );
  }));

test("a bounded line log loses lines instead of keeping them all in memory if the disk is slower than its writers", () =>
  inDirectory(async (directory) => {
    const path = join(directory, "log");
    const log = await openBoundedLineLog(path, { fileBytesMax: 100_000_000 });
    const written = Array.from({ length: 10_000 }, (_, index) => String(index).padEnd(1_024, "."));
    // No write completes before this tick of the event loop ends.
    for (const line of written) log.append(line);
    await log[Symbol.asyncDispose]();

    const lines = await readLineLog(path);

    ok(lines.length > 1_000 && lines.length < 5_000);
    deepEqual(lines, written.slice(0, lines.length));
  }));
