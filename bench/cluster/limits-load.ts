/**
 * The client of limits.ts: changes Pods at a constant rate over HTTPS, reads some, and records how long each request takes, and how long a
 * Pod takes until a watch shows it as Running. Requests begin on time even if earlier ones are not answered yet.
 */
import { once } from "node:events";
import type { IncomingMessage } from "node:http";
import { Agent, request } from "node:https";
import { createInterface } from "node:readline";
import { setTimeout as sleep } from "node:timers/promises";
import { parse } from "yaml";
import { podOf } from "./limits-objects.ts";

/** Namespace of the Pods that are created during the measurement. */
const NAMESPACE = "default";

/** As many as are needed at this rate while the server answers; more would only be handshakes while it does not. */
const CONNECTIONS_MAX = 64;

export interface LoadOptions {
  /** In YAML. */
  readonly kubeconfig: string;
  readonly seconds: number;
  /** Half of them create a Pod, half delete an older one, so that their number stays the same. */
  readonly changesPerSecond: number;
  /** The Pods that exist before are `ns-<index % namespaceCount>/pod-<index>`. */
  readonly namespaceCount: number;
  readonly signal: AbortSignal;
}

export interface LoadResult {
  /** Milliseconds per request of a single object. */
  readonly single: readonly number[];
  /** Milliseconds per list of a namespace. */
  readonly lists: readonly number[];
  /** Milliseconds from the request to create a Pod until it is Running. */
  readonly starts: readonly number[];
  readonly failed: readonly string[];
}

interface Kubeconfig {
  readonly clusters: readonly { readonly cluster: { readonly server: string; readonly "certificate-authority-data": string } }[];
  readonly users: readonly { readonly user: { readonly "client-certificate-data": string; readonly "client-key-data": string } }[];
}

type Send = (method: string, path: string, body?: object, type?: string) => Promise<IncomingMessage>;

export async function changePods(options: LoadOptions): Promise<LoadResult> {
  const { seconds, changesPerSecond, namespaceCount, signal } = options;
  const { send, close } = clientOf(options.kubeconfig);
  const result = { single: [] as number[], lists: [] as number[], starts: [] as number[], failed: [] as string[] };
  const begun = new Map<string, number>();
  const watching = await watchStarts(send, begun, result.starts);
  const underWay = new Set<Promise<void>>();
  const timed = (durations: number[], ...[method, path, body, type]: Parameters<Send>): void => {
    const beganAtMs = performance.now();
    const sent = send(method, path, body, type).then(
      async (answer) => {
        await once(answer.resume(), "end");
        durations.push(performance.now() - beganAtMs);
      },
      (error: Error) => void result.failed.push(error.message),
    );
    underWay.add(sent);
    void sent.finally(() => underWay.delete(sent));
  };
  const pathOf = (index: number): string => `/api/v1/namespaces/ns-${index % namespaceCount}/pods/pod-${index}`;
  const startedAtMs = performance.now();
  const rounds = (seconds * changesPerSecond) / 2;
  for (let index = 0; index < rounds; index++) {
    await sleep(Math.max(0, startedAtMs + (index * 2_000) / changesPerSecond - performance.now()), undefined, { signal });
    const name = `new-${index}`;
    begun.set(name, performance.now());
    timed(result.single, "POST", `/api/v1/namespaces/${NAMESPACE}/pods`, podOf(index, NAMESPACE, name));
    timed(result.single, "DELETE", pathOf(index));
    timed(result.single, "GET", pathOf(rounds + index));
    const patch = { metadata: { labels: { round: `${index}` } } };
    if (index % 10 === 0) timed(result.single, "PATCH", pathOf(rounds + index), patch, "application/strategic-merge-patch+json");
    if (index % 50 === 0) timed(result.lists, "GET", `/api/v1/namespaces/ns-${index % namespaceCount}/pods`);
  }
  await Promise.all(underWay);
  watching.destroy();
  close();
  return result;
}

async function watchStarts(send: Send, begun: Map<string, number>, starts: number[]): Promise<IncomingMessage> {
  const answer = await send("GET", `/api/v1/namespaces/${NAMESPACE}/pods?watch=1`);
  const see = (line: string): void => {
    const { object } = JSON.parse(line) as {
      readonly object: { readonly metadata: { readonly name: string }; readonly status?: { phase?: string } };
    };
    const beganAtMs = begun.get(object.metadata.name);
    if (beganAtMs === undefined || object.status?.phase !== "Running") return;
    begun.delete(object.metadata.name);
    starts.push(performance.now() - beganAtMs);
  };
  createInterface({ input: answer }).on("line", see);
  answer.on("error", () => undefined);
  return answer;
}

function clientOf(kubeconfig: string): { readonly send: Send; close(): void } {
  const { clusters, users } = parse(kubeconfig) as Kubeconfig;
  const [cluster, user] = [clusters[0]?.cluster, users[0]?.user];
  if (cluster === undefined || user === undefined) throw new Error("Cannot use the kubeconfig: it has no cluster or no user");
  const decoded = (text: string): Buffer => Buffer.from(text, "base64");
  const agent = new Agent({
    ca: decoded(cluster["certificate-authority-data"]),
    cert: decoded(user["client-certificate-data"]),
    key: decoded(user["client-key-data"]),
    keepAlive: true,
    maxSockets: CONNECTIONS_MAX,
  });
  const send: Send = async (method, path, body, type = "application/json") => {
    const outgoing = request(new URL(path, cluster.server), { method, agent, headers: body === undefined ? {} : { "content-type": type } });
    outgoing.end(body === undefined ? undefined : JSON.stringify(body));
    const [answer] = (await once(outgoing, "response")) as [IncomingMessage];
    if ((answer.statusCode ?? 500) < 300) return answer;
    answer.resume();
    throw new Error(`${method} ${path} returned ${answer.statusCode}`);
  };
  return { send, close: () => agent.destroy() };
}
