/**
 * Writes beside a load of lists, without and with one read worker: the shipped program in processes of its own, both started before the
 * measurements and loaded in turn. With a worker, lists use another processor than writes.
 */
import { spawn } from "node:child_process";
import { mkdir, readFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { createInterface } from "node:readline";
import { Disposables } from "../../src/base/disposables.ts";
import { packageDirectory } from "../../src/testing/package-directory.ts";
import type { Benchmark } from "../benchmark.ts";
import { startChild, type Child } from "../child.ts";
import { figureOf } from "../figure.ts";
import type { LoadTasks } from "./load-child.ts";
import type { StartedServer } from "./server-child.ts";

const ROUND_MS = 3_000;
const WARM_UP_MS = 5_000;
const WRITERS = 16;
const LISTERS = 2;
const PODS = 2_000;

export const apiserverReadWorkers: Benchmark = {
  name: "apiserver/read-workers",
  measures: "POST of ConfigMaps beside LISTs of 2,000 Pods, with one read worker; baseline: without read workers",
  async *run(context) {
    await using owned = new Disposables();
    const writers = owned.use(startChild<LoadTasks>(import.meta.url, "load-child", context.signal));
    const readers = owned.use(startChild<LoadTasks>(import.meta.url, "load-child", context.signal));
    const servers = {
      without: owned.use(await startServer(join(context.directory, "without"), [], context.signal)),
      with: owned.use(await startServer(join(context.directory, "with"), ["--read-workers", "1"], context.signal)),
    };
    for (const server of Object.values(servers)) {
      await readers.call("prepare", { ...server.started, count: PODS });
      await measured({ writers, readers }, server, WARM_UP_MS);
    }
    const rounds = await context.rounds.measure({
      without: () => measured({ writers, readers }, servers.without, ROUND_MS),
      with: () => measured({ writers, readers }, servers.with, ROUND_MS),
    });
    for (const [name, unit, pick] of [
      ["writes", "/s", ({ writesPerSecond }: Measured) => writesPerSecond],
      ["write-median", "ms", ({ writeMedianMs }: Measured) => writeMedianMs],
      ["lists", "/s", ({ readsPerSecond }: Measured) => readsPerSecond],
      ["main-process-per-write", "us", ({ mainUsPerWrite }: Measured) => mainUsPerWrite],
    ] as const) {
      const baselines = rounds.without.map(pick);
      yield figureOf({ name: `apiserver/read-workers-${name}`, unit, values: rounds.with.map(pick), baselines });
    }
  },
};

interface Measured {
  readonly writesPerSecond: number;
  readonly writeMedianMs: number;
  readonly readsPerSecond: number;
  /** Processor time of the main process, lists included, per write. */
  readonly mainUsPerWrite: number;
}

async function measured(
  { writers, readers }: { readonly writers: Child<LoadTasks>; readonly readers: Child<LoadTasks> },
  { started, pid }: StartedProcess,
  durationMs: number,
): Promise<Measured> {
  const before = await processorUs(pid);
  const common = { ...started, protocol: "http1", durationMs, keepsConnections: true } as const;
  const [writes, reads] = await Promise.all([
    writers.call("load", { ...common, request: "post-configmap", connections: WRITERS }),
    readers.call("load", { ...common, request: "list-pods", connections: LISTERS }),
  ]);
  const mainUsPerWrite = ((await processorUs(pid)) - before) / writes.count;
  return { writesPerSecond: writes.perSecond, writeMedianMs: writes.medianMs, readsPerSecond: reads.perSecond, mainUsPerWrite };
}

/** The kernel counts in hundredths of a second (USER_HZ). */
const TICK_US = 10_000;

async function processorUs(pid: number): Promise<number> {
  const [, afterName = ""] = (await readFile(`/proc/${pid}/stat`, "utf8")).split(") ");
  const [user, system] = afterName.split(" ").slice(11, 13).map(Number);
  return ((user ?? 0) + (system ?? 0)) * TICK_US;
}

interface StartedProcess {
  readonly started: StartedServer;
  readonly pid: number;
}

async function startServer(directory: string, flags: readonly string[], signal: AbortSignal): Promise<AsyncDisposable & StartedProcess> {
  await mkdir(directory, { recursive: true });
  const program = join(packageDirectory(import.meta.dirname), "dist", "k8ts.js");
  const kubeconfig = join(directory, "kubeconfig");
  const own = ["apiserver", "--data-dir", join(directory, "data"), "--secure-port", "0", "--kubeconfig", kubeconfig];
  // The load exceeds the default limits of requests in flight, which is not what is measured. No controller creates service accounts.
  const limits = ["--max-requests-inflight", "10000", "--max-mutating-requests-inflight", "10000"];
  const admission = ["--disable-admission-plugins", "ServiceAccount"];
  const child = spawn(program, [...own, ...limits, ...admission, ...flags], {
    // The program starts Node by its name.
    env: { ...process.env, PATH: `${dirname(process.execPath)}:${process.env["PATH"] ?? ""}` },
    stdio: ["ignore", "pipe", "inherit"],
    signal,
  });
  child.on("error", () => undefined);
  const exited = new Promise<void>((resolve) => child.once("exit", () => resolve()));
  let url: string | undefined;
  for await (const line of createInterface({ input: child.stdout })) {
    url = /^listening on (\S+)$/.exec(line)?.[1];
    if (url !== undefined) break;
  }
  if (url === undefined) throw new Error("The API server exited before it listened");
  const { users } = JSON.parse(await readFile(kubeconfig, "utf8")) as { users: [{ user: Record<string, string> }] };
  const pem = (member: string) => Buffer.from(users[0].user[member] ?? "", "base64").toString();
  return {
    pid: child.pid ?? 0,
    started: { port: Number(new URL(url).port), credentials: { cert: pem("client-certificate-data"), key: pem("client-key-data") } },
    async [Symbol.asyncDispose]() {
      child.kill("SIGTERM");
      await exited;
    },
  };
}
