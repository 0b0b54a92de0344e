/** A whole cluster in one process that listens, and measures for how long its event loop is held. */
import { readFile } from "node:fs/promises";
import { monitorEventLoopDelay } from "node:perf_hooks";
import { startCluster } from "../../src/embedded/start-cluster.ts";
import { collectGarbage, serve } from "../serve.ts";

export interface Listening {
  readonly port: number;
  readonly cert: string;
  readonly key: string;
}

/** The histogram's timer; what it records includes this. */
const RESOLUTION_MS = 1;
const delays = monitorEventLoopDelay({ resolution: RESOLUTION_MS });

const tasks = {
  async start(_input: null): Promise<Listening> {
    const cluster = await startCluster({ nodes: 1, listen: true });
    const { users } = JSON.parse(await readFile(cluster.kubeconfig, "utf8")) as { users: [{ user: Record<string, string> }] };
    const pem = (member: string) => Buffer.from(users[0].user[member] ?? "", "base64").toString();
    delays.enable();
    return { port: Number(new URL(cluster.url).port), cert: pem("client-certificate-data"), key: pem("client-key-data") };
  },

  begin(_input: null): Promise<void> {
    collectGarbage();
    delays.reset();
    return Promise.resolve();
  },

  /** Milliseconds of the longest hold since `begin`. */
  end(_input: null): Promise<number> {
    return Promise.resolve(Math.max(0, delays.max / 1e6 - RESOLUTION_MS));
  },
};

export type HostileTasks = typeof tasks;

serve(tasks);
