/**
 * A cluster as users start it: the shipped program in its own process, with its own home, queried over HTTPS like by any client.
 * Measurements start before the process exists.
 */
import { spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { mkdir, readFile } from "node:fs/promises";
import { Agent, request } from "node:https";
import { dirname, join } from "node:path";
import { createInterface } from "node:readline";
import { parse } from "yaml";
import { packageDirectory } from "../../src/testing/package-directory.ts";

export interface StartedCluster extends AsyncDisposable {
  /** From the start of the process until a client sees its Node Ready. */
  readonly readyMs: number;
  /** CPU time until then. */
  readonly cpuSeconds: number;
  /** Current memory of the process. */
  readonly cpuNowSeconds: () => number;
  readonly residentBytes: () => number;
  post(path: string, body: object): Promise<void>;
  remove(path: string): Promise<void>;
  /** Calls `see` for each event until it returns true. */
  watch(path: string, see: (object: WatchedObject) => boolean): Promise<void>;
}

export interface WatchedObject {
  readonly metadata: { readonly name: string };
  readonly status?: { readonly phase?: string; readonly conditions?: readonly { readonly type: string; readonly status: string }[] };
}

/** Kernel's unit of CPU time in /proc (USER_HZ). */
const TICKS_PER_SECOND = 100;
const STOP_SIGNAL = "SIGTERM";

export async function startClusterProcess(home: string, flags: readonly string[], signal: AbortSignal): Promise<StartedCluster> {
  await mkdir(home, { recursive: true });
  const program = join(packageDirectory(import.meta.dirname), "dist", "k8ts.js");
  // The program starts Node by its name.
  const path = `${dirname(process.execPath)}:${process.env["PATH"] ?? ""}`;
  const environment = { ...process.env, PATH: path, XDG_DATA_HOME: home, HOME: home, KUBECONFIG: join(home, "kubeconfig") };
  const startedAt = performance.now();
  const child = spawn(program, ["up", "--listen", "127.0.0.1:0", ...flags], {
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
  if (child.stdout === null) throw new Error("Cannot read the output of the cluster");
  for await (const line of createInterface({ input: child.stdout })) {
    if (!/ is up\b/.test(line)) continue;
    child.stdout.resume();
    return;
  }
  throw new Error("The cluster exited before it was up");
}

export function isReady(status: WatchedObject["status"]): boolean {
  return status?.conditions?.some(({ type, status: is }) => type === "Ready" && is === "True") === true;
}

interface Kubeconfig {
  readonly clusters: readonly { readonly cluster: { readonly server: string; readonly "certificate-authority-data": string } }[];
  readonly users: readonly { readonly user: { readonly "client-certificate-data": string; readonly "client-key-data": string } }[];
}

async function clientOf(kubeconfig: string) {
  const { clusters, users } = parse(await readFile(kubeconfig, "utf8")) as Kubeconfig;
  const [first, user] = [clusters[0]?.cluster, users[0]?.user];
  if (first === undefined || user === undefined) throw new Error(`Cannot use ${kubeconfig}: it has no cluster or no user`);
  const decoded = (text: string): Buffer => Buffer.from(text, "base64");
  const agent = new Agent({
    ca: decoded(first["certificate-authority-data"]),
    cert: decoded(user["client-certificate-data"]),
    key: decoded(user["client-key-data"]),
    keepAlive: true,
  });
  const send = async (method: string, path: string, body?: object) => {
    const headers = body === undefined ? {} : { "content-type": "application/json" };
    const outgoing = request(new URL(path, first.server), { method, agent, headers });
    outgoing.end(body === undefined ? undefined : JSON.stringify(body));
    const [answer] = (await once(outgoing, "response")) as [import("node:http").IncomingMessage];
    if ((answer.statusCode ?? 500) < 300) return answer;
    throw new Error(`${method} ${path} returned ${answer.statusCode}`);
  };
  return {
    close: () => agent.destroy(),
    post: async (path: string, body: object) => void (await send("POST", path, body)).resume(),
    remove: async (path: string) => void (await send("DELETE", path)).resume(),
    async watch(path: string, see: (object: WatchedObject) => boolean): Promise<void> {
      const answer = await send("GET", `${path}?watch=1`);
      for await (const line of createInterface({ input: answer })) {
        if (!see((JSON.parse(line) as { readonly object: WatchedObject }).object)) continue;
        answer.destroy();
        return;
      }
    },
  };
}

/** Fields 14 and 15 of /proc/PID/stat, counted after the command name, which may contain anything. */
function cpuSecondsOf(pid: number): number {
  const stat = readFileSync(`/proc/${pid}/stat`, "utf8");
  const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
  return (Number(fields[11]) + Number(fields[12])) / TICKS_PER_SECOND;
}

function residentBytesOf(pid: number): number {
  return Number(/^VmRSS:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1] ?? Number.NaN) * 1024;
}
