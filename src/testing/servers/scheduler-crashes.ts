/**
 * Schedulers that die one after the other on one cluster: each after a number of its requests, as if its process were killed, and the next
 * starts from the stored state. Every binding is recorded as the server has it, with the resources then overcommitted on the node.
 * Terminating Pods are deleted a second later, as if a kubelet had stopped them.
 */
import { nodes } from "../../api/core/v1/node.ts";
import { pods } from "../../api/core/v1/pod.ts";
import type { Pod } from "../../api/generated/core/v1.ts";
import type { ResourceClaim } from "../../api/generated/resource.k8s.io/v1.ts";
import type { TransportEvent } from "../../api/machinery/transport.ts";
import { resourceClaims } from "../../api/resource.k8s.io/v1/resource-claim.ts";
import { startGuardedServer, type StartedServer } from "../../apiserver/testing/server.ts";
import { Disposables } from "../../base/disposables.ts";
import { seededRandom } from "../../base/random.ts";
import type { Client } from "../../client/client.ts";
import { createClient } from "../../client/rest-client.ts";
import { on, overCapacity, type ClusterState } from "../../scheduler/framework/testing/naive-rules.ts";
import { MortalTransport, type Disturbance } from "../mortal-transport.ts";
import { startControlledServer } from "./controlled-server.ts";
import { beginScheduler, makeFor } from "./scheduled-server.ts";

export interface SchedulerCrashesOptions {
  /** Objects that exist before any scheduler starts. */
  readonly objects: readonly object[];
  /** Number of requests after which each scheduler dies; the one after them survives. */
  readonly deaths: readonly number[];
  /** Disturbance of the network, until the last scheduler has had time to finish. */
  readonly disturbance?: Disturbance;
  readonly seed: number;
  /** Controllers that run all the time: a value of --controllers. Default: none. */
  readonly controllers?: readonly string[];
  /** Called every second, for what others do to the cluster. */
  readonly eachSecond?: (client: Client) => Promise<void>;
}

export interface SchedulerCrashes {
  /** Requests of all schedulers. */
  readonly calls: number;
  /** "p on n1", in the order in which the server stored the bindings. */
  readonly bindings: readonly string[];
  /** Overcommitted resources at a binding: "n1: cpu". */
  readonly over: readonly string[];
  /** Final placement. */
  readonly end: ClusterState & { readonly waiting: readonly Pod[] };
  /** Final claims. */
  readonly claims: readonly ResourceClaim[];
}

/** Longer than the maximum back-off, so that every Pod that fits is placed. */
const WORK_SECONDS = 40;

export async function runCrashingSchedulers({
  objects,
  deaths,
  disturbance = {},
  seed,
  controllers,
  eachSecond = () => Promise.resolve(),
}: SchedulerCrashesOptions): Promise<SchedulerCrashes> {
  await using owned = new Disposables();
  const server = owned.use(await (controllers === undefined ? startGuardedServer() : startControlledServer(controllers)));
  const { clock } = server;
  const client = createClient(server.transport());
  for (const object of objects) await makeFor(client, object);
  const record = await BindingRecord.follow(client);
  const ended: Promise<void>[] = [];
  const left = [...deaths];
  let network = disturbance;
  let calls = 0;
  let life = begin(server, { dieAfter: left.shift(), disturbance: () => network, seed });
  const pass = async (seconds: number): Promise<void> => {
    for (let second = 0; second < seconds; second++) {
      await clock.settle();
      if (life.transport.isDead) {
        calls += life.transport.calls;
        ended.push(life.end());
        life = begin(server, { dieAfter: left.shift(), disturbance: () => network, seed: seed + left.length + 1 });
        await clock.settle();
      }
      await clock.advance(1_000);
      await reap(client);
      await eachSecond(client);
    }
  };
  await pass(WORK_SECONDS);
  network = {};
  await pass(WORK_SECONDS);
  ended.push(life.end());
  await clock.advance(5_000);
  await Promise.all(ended);
  return {
    calls: calls + life.transport.calls,
    bindings: record.bindings,
    over: record.over,
    end: await stateOf(client),
    claims: (await client.list(resourceClaims)).items,
  };
}

interface Life {
  readonly transport: MortalTransport;
  /** It receives and sends nothing more; resolves when it has stopped, for which the clock must advance. */
  end(): Promise<void>;
}

function begin(
  server: StartedServer,
  { dieAfter, disturbance, seed }: { readonly dieAfter: number | undefined; disturbance(): Disturbance; readonly seed: number },
): Life {
  const { clock } = server;
  const transport = new MortalTransport({ clock, random: seededRandom(seed), disturbance, dieAfter });
  const giveUp = new AbortController();
  const starting = beginScheduler(server, {
    seed,
    signal: giveUp.signal,
    around: (own) => transport.around(own, { counts: true }),
  });
  starting.catch(() => undefined);
  return {
    transport,
    async end() {
      transport.die();
      giveUp.abort();
      const running = await starting.catch(() => undefined);
      await running?.stop();
    },
  };
}

class BindingRecord {
  readonly bindings: string[] = [];
  readonly over: string[] = [];
  readonly #pods = new Map<string, Pod>();

  static async follow(client: Client): Promise<BindingRecord> {
    const record = new BindingRecord();
    const nodeList = (await client.list(nodes)).items;
    const hear = (event: TransportEvent): void => {
      if ("object" in event) record.#hear(event.type, event.object as Pod, nodeList);
    };
    await client.watch(pods, { timeoutSeconds: 24 * 3_600 }, { event: hear, ended: () => undefined });
    return record;
  }

  #hear(type: string, pod: Pod, nodeList: ClusterState["nodes"]): void {
    const { uid = "", name } = pod.metadata;
    const before = this.#pods.get(uid);
    if (type === "DELETED") return void this.#pods.delete(uid);
    this.#pods.set(uid, pod);
    const nodeName = pod.spec?.nodeName;
    if (nodeName === undefined || before === undefined || before.spec?.nodeName === nodeName) return;
    this.bindings.push(`${name} on ${nodeName}`);
    const node = nodeList.find(({ metadata }) => metadata.name === nodeName);
    if (node === undefined) return;
    const tooMuch = overCapacity(node, on(node, { nodes: nodeList, placed: [...this.#pods.values()] }));
    this.over.push(...tooMuch.map((what) => `${nodeName}: ${what}`));
  }
}

async function reap(client: Client): Promise<void> {
  const going = (await client.list(pods)).items.filter(({ metadata }) => metadata.deletionTimestamp !== undefined);
  for (const { metadata } of going) await client.delete(pods, metadata, { gracePeriodSeconds: 0 });
}

async function stateOf(client: Client): Promise<SchedulerCrashes["end"]> {
  const all = (await client.list(pods)).items;
  const isPlaced = ({ spec }: Pod): boolean => spec?.nodeName !== undefined;
  return { nodes: (await client.list(nodes)).items, placed: all.filter(isPlaced), waiting: all.filter((pod) => !isPlaced(pod)) };
}
