import { deepEqual, equal, ok, rejects } from "node:assert/strict";
import { mkdir, mkdtemp, readdir, readFile, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test, type TestContext } from "node:test";
import { openDatedLog, type DatedLogOptions } from "./dated-log.ts";

async function temporaryDirectory(context: TestContext): Promise<string> {
  const directory = await mkdtemp(join(tmpdir(), "k8ts-dated-log-"));
  context.after(() => rm(directory, { recursive: true }));
  return directory;
}

const MEGABYTE = 1024 * 1024;
const NOW_MS = Date.parse("2026-01-02T03:04:05.678Z");

function optionsOf(path: string, more: Partial<DatedLogOptions> = {}): DatedLogOptions {
  return { path, sizeMaxMegabytes: 1, ageMaxDays: 0, backupsMax: 0, nowMs: () => NOW_MS, onLost() {}, ...more };
}

test("lines are appended to the file in order, which only its owner can read", async (t) => {
  const path = join(await temporaryDirectory(t), "logs", "audit.log");
  await using log = await openDatedLog(optionsOf(path));

  for (const line of ["a", "b"]) ok(log.append(line));
  await log[Symbol.asyncDispose]();

  equal(await readFile(path, "utf8"), "a\nb\n");
  equal((await stat(path)).mode & 0o777, 0o600);
});

test("a full file is renamed after the time, and the oldest ones are deleted by number", async (t) => {
  const directory = await temporaryDirectory(t);
  const path = join(directory, "audit.log");
  let nowMs = NOW_MS;
  const log = await openDatedLog(optionsOf(path, { backupsMax: 2, nowMs: () => (nowMs += 1_000) }));
  await writeFile(join(directory, "audit-other.log"), "");

  for (let file = 0; file < 4; file++) {
    log.append(String(file).repeat(MEGABYTE));
    await log[Symbol.asyncDispose]();
  }

  const names = (await readdir(directory)).toSorted();
  equal(names.length, 4);
  deepEqual(
    names.filter((name) => name.startsWith("audit-2026")).map((name) => /^audit-2026-01-02T03-04-\d{2}\.678\.log$/.test(name)),
    [true, true],
  );
  const first = async (name: string) => (await readFile(join(directory, name), "utf8")).charAt(0);
  deepEqual(await Promise.all([names[0], names[1], "audit.log"].map((name) => first(name ?? ""))), ["1", "2", "3"]);
});

test("rotated files are deleted by age when the log is opened", async (t) => {
  const directory = await temporaryDirectory(t);
  for (const day of ["2025-12-01", "2026-01-01"]) await writeFile(join(directory, `audit-${day}T00-00-00.000.log`), "");

  await using _log = await openDatedLog(optionsOf(join(directory, "audit.log"), { ageMaxDays: 10 }));

  deepEqual((await readdir(directory)).toSorted(), ["audit-2026-01-01T00-00-00.000.log", "audit.log"]);
});

test("a log without a maximum size is not rotated", async (t) => {
  const directory = await temporaryDirectory(t);
  const log = await openDatedLog(optionsOf(join(directory, "audit.log"), { sizeMaxMegabytes: 0 }));

  for (let file = 0; file < 3; file++) {
    log.append("a".repeat(MEGABYTE));
    await log[Symbol.asyncDispose]();
  }

  deepEqual(await readdir(directory), ["audit.log"]);
});

test("more lines than may wait are refused, and those of a failed write are reported as lost", async (t) => {
  const directory = await temporaryDirectory(t);
  const path = join(directory, "logs", "audit.log");
  const lost: number[] = [];
  const log = await openDatedLog(optionsOf(path, { sizeMaxMegabytes: 0, onLost: (lines) => void lost.push(lines) }));
  const line = "a".repeat(10 * MEGABYTE);

  const taken = Array.from({ length: 5 }, () => log.append(line));
  await log[Symbol.asyncDispose]();
  await rm(join(directory, "logs"), { recursive: true });
  log.append("b");
  await log[Symbol.asyncDispose]();

  deepEqual(taken, [true, true, true, false, false]);
  deepEqual(lost, [1]);
});

test("a path that cannot be written to is an error at once", async (t) => {
  const directory = await temporaryDirectory(t);
  await mkdir(join(directory, "audit.log"));

  await rejects(openDatedLog(optionsOf(join(directory, "audit.log"))), { code: "EISDIR" });
});
