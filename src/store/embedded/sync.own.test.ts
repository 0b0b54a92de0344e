/**
 * That an acknowledged commit is on disk cannot be shown by reading it back, nor by killing the process: the kernel still has what was not
 * synced. So the system calls are traced, on a disk that was made slow: on a fast one a sync that is not awaited may finish in time
 * accidentally.
 */
import { deepEqual } from "node:assert/strict";
import { execFile } from "node:child_process";
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { promisify } from "node:util";
import { needs, toolPath } from "../../testing/needs.ts";

const COMMITS = 20;

/** Much longer than writing an acknowledgement that does not wait for it. */
const SYNC_MICROSECONDS = 20_000;

/** System calls that write to a file at an offset, and those after which the data is on disk. */
const WRITES = ["pwrite64", "pwritev", "writev"];
const SYNCS = ["fdatasync", "fsync", "msync"];

/** Pages are written whole; of a header only the changed part, which activates the pages of a commit. */
const SMALLEST_PAGE_BYTES = 4_096;

test(
  `each of ${COMMITS} commits is synced, then activated, and acknowledged only after that is synced, too`,
  { ...needs("strace") },
  async () => {
    const directory = await mkdtemp(join(tmpdir(), "k8ts-sync-"));
    try {
      const trace = await traceChild(join(directory, "data"), join(directory, "trace"));
      deepEqual(
        acknowledgements(trace),
        Array.from({ length: COMMITS }, (_, index) => ({ number: index + 1, headers: 1, early: 0, synced: true })),
      );
    } finally {
      await rm(directory, { recursive: true });
    }
  },
);

/** System calls of a process that commits one by one. A call interleaved with another thread's takes two lines. */
async function traceChild(directory: string, file: string): Promise<string[]> {
  const program = join(import.meta.dirname, "testing", "sync-child.js");
  const what = ["-e", `trace=openat,write,${[...WRITES, ...SYNCS].join(",")}`];
  const slowly = ["-e", `inject=${SYNCS.join(",")}:delay_enter=${SYNC_MICROSECONDS}`];
  const child = [process.execPath, program, directory, String(COMMITS)];
  await promisify(execFile)(toolPath("strace"), ["-f", ...what, ...slowly, "-o", file, ...child]);
  return (await readFile(file, "utf8")).split("\n");
}

interface Acknowledgement {
  readonly number: number;
  /** Headers written since the last one; those written before their pages were on disk. */
  readonly headers: number;
  readonly early: number;
  /** Whether everything written is on disk. */
  readonly synced: boolean;
}

function acknowledgements(trace: readonly string[]): Acknowledgement[] {
  const found: Acknowledgement[] = [];
  /** Files opened for synchronous writes. */
  const synchronous = new Set<string>();
  /** Threads in a sync that began after the last write. */
  const syncing = new Set<string>();
  let [headers, early, synced] = [0, 0, true];
  for (const line of trace) {
    const { thread = "", begun = "", ended = "", file = "", result = "" } = partsOf(line);
    if (begun === "openat" && line.includes("O_DSYNC")) synchronous.add(result);
    if (WRITES.includes(begun)) {
      if (isHeader(line)) {
        headers += 1;
        if (!synced) early += 1;
      }
      if (!synchronous.has(file)) synced = false;
      syncing.clear();
    }
    if (SYNCS.includes(begun)) syncing.add(thread);
    if (SYNCS.includes(ended) && result === "0" && syncing.delete(thread)) synced = true;
    const number = / write\(1, "ack (\d+)/.exec(line)?.[1];
    if (number === undefined) continue;
    found.push({ number: Number(number), headers, early, synced });
    [headers, early] = [0, 0];
  }
  return found.filter(({ number }) => number > 0); // The first one belongs to opening.
}

/** A line is a whole call, its beginning ("7 fsync(9 <unfinished ...>") or its end ("7 <... fsync resumed>) = 0 (DELAYED)"). */
function partsOf(line: string): Partial<Record<"thread" | "begun" | "ended" | "file" | "result", string>> {
  const { thread, begun, resumed, file } =
    /^(?<thread>\d+) +(?:<\.\.\. (?<resumed>\w+)|(?<begun>\w+)\((?<file>\d*))/.exec(line)?.groups ?? {};
  const result = / = (\d+)(?: \(DELAYED\))?$/.exec(line)?.[1];
  const ended = result === undefined ? undefined : (resumed ?? begun);
  return Object.fromEntries(Object.entries({ thread, begun, ended, file, result }).filter(([, part]) => part !== undefined));
}

function isHeader(line: string): boolean {
  const bytes = /pwrite64\(.*, (\d+), \d+(?:\)| <)/.exec(line)?.[1];
  return bytes !== undefined && Number(bytes) < SMALLEST_PAGE_BYTES;
}
