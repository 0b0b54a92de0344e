/**
 * A cluster as its users start it: the shipped program in a process of its own, with a home of its own, asked over HTTPS as any client
 * would. What is measured is counted from before the process exists.
 */
import { spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { mkdir, readFile } from "node:fs/promises";
import { Agent, request } from "node:https";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { parse } from "yaml";
import { packageDirectory } from "../../src/testing/package-directory.ts";

export interface StartedCluster extends AsyncDisposable {
  /** From the start of the process until its Node was Ready for a client. */
  readonly readyMs: number;
  /** Processor time until then. */
  readonly cpuSeconds: number;
  /** Of the process, now. */
  readonly cpuNowSeconds: () => number;
  readonly residentBytes: () => number;
  post(path: string, body: object): Promise<void>;
  remove(path: string): Promise<void>;
  /** Calls `see` for each event until it answers true. */
  watch(path: string, see: (object: WatchedObject) => boolean): Promise<void>;
}

export interface WatchedObject {
  readonly metadata: { readonly name: string };
  readonly status?: { readonly phase?: string; readonly conditions?: readonly { readonly type: string; readonly status: string }[] };
}

/** As the kernel counts processor time for everybody (USER_HZ). */
const TICKS_PER_SECOND = 100;
const STOP_SIGNAL = "SIGTERM";

export async function startClusterProcess(home: string, flags: readonly string[], signal: AbortSignal): Promise<StartedCluster> {
  await mkdir(home, { recursive: true });
  const program = join(packageDirectory(import.meta.dirname), "dist", "k8ts.js");
  const environment = { ...process.env, XDG_DATA_HOME: home, HOME: home, KUBECONFIG: join(home, "kubeconfig") };
  const startedAt = performance.now();
  const child = spawn(process.execPath, [program, "up", "--listen", "127.0.0.1:0", ...flags], {
    stdio: ["ignore", "pipe", "inherit"],
    env: environment,
    signal,
  });
  child.on("error", () => undefined);
  await isUp(child);
  const client = await clientOf(join(home, "kubeconfig"));
  await client.watch("/api/v1/nodes", ({ status }) => isReady(status));
  const readyMs = performance.now() - startedAt;
  const pid = child.pid ?? 0;
  return {
    readyMs,
    cpuSeconds: cpuSecondsOf(pid),
    cpuNowSeconds: () => cpuSecondsOf(pid),
    residentBytes: () => residentBytesOf(pid),
    ...client,
    async [Symbol.asyncDispose]() {
      child.kill(STOP_SIGNAL);
      if (child.exitCode === null && child.signalCode === null) await once(child, "exit");
      client.close();
    },
  };
}

async function isUp(child: ChildProcess): Promise<void> {
  if (child.stdout === null) throw new Error("Cannot hear what the cluster says");
  for await (const line of createInterface({ input: child.stdout })) {
    if (!/ is up\b/.test(line)) continue;
    child.stdout.resume();
    return;
  }
  throw new Error("The cluster ended before it was up");
}

export function isReady(status: WatchedObject["status"]): boolean {
  return status?.conditions?.some(({ type, status: is }) => type === "Ready" && is === "True") === true;
}

interface Kubeconfig {
  readonly clusters: readonly { readonly cluster: { readonly server: string; readonly "certificate-authority-data": string } }[];
  readonly users: readonly { readonly user: { readonly "client-certificate-data": string; readonly "client-key-data": string } }[];
}

async function clientOf(path: string) {
  const { clusters, users } = parse(await readFile(path, "utf8")) as Kubeconfig;
  const [first, user] = [clusters[0]?.cluster, users[0]?.user];
  if (first === undefined || user === undefined) throw new Error(`Cannot use ${path}: it has no cluster or no user`);
  const decoded = (text: string): Buffer => Buffer.from(text, "base64");
  const agent = new Agent({
    ca: decoded(first["certificate-authority-data"]),
    cert: decoded(user["client-certificate-data"]),
    key: decoded(user["client-key-data"]),
    keepAlive: true,
  });
  const ask = async (method: string, asked: string, body?: object) => {
    const headers = body === undefined ? {} : { "content-type": "application/json" };
    const outgoing = request(new URL(asked, first.server), { method, agent, headers });
    outgoing.end(body === undefined ? undefined : JSON.stringify(body));
    const [answer] = (await once(outgoing, "response")) as [import("node:http").IncomingMessage];
    if ((answer.statusCode ?? 500) < 300) return answer;
    throw new Error(`${method} ${asked} was answered with ${answer.statusCode}`);
  };
  return {
    close: () => agent.destroy(),
    post: async (asked: string, body: object) => void (await ask("POST", asked, body)).resume(),
    remove: async (asked: string) => void (await ask("DELETE", asked)).resume(),
    async watch(asked: string, see: (object: WatchedObject) => boolean): Promise<void> {
      const answer = await ask("GET", `${asked}?watch=1`);
      for await (const line of createInterface({ input: answer })) {
        if (!see((JSON.parse(line) as { readonly object: WatchedObject }).object)) continue;
        answer.destroy();
        return;
      }
    },
  };
}

/** Fields 14 and 15 of /proc/PID/stat, counted after the name, which may hold anything. */
function cpuSecondsOf(pid: number): number {
  const stat = readFileSync(`/proc/${pid}/stat`, "utf8");
  const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
  return (Number(fields[11]) + Number(fields[12])) / TICKS_PER_SECOND;
}

function residentBytesOf(pid: number): number {
  return Number(/^VmRSS:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1] ?? Number.NaN) * 1024;
}
