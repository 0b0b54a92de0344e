import { deepEqual, equal } from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { nodes } from "../api/core/v1/node.ts";
import { pods } from "../api/core/v1/pod.ts";
import type { Pod } from "../api/generated/core/v1.ts";
import { rounds, testSeed } from "../testing/rounds.ts";
import { startScheduledServer, type ScheduledServer } from "../testing/servers/scheduled-server.ts";
import { bindingsThrough } from "./framework/testing/bindings.ts";
import { aNode } from "./framework/testing/builders.ts";
import { brokenRules, type ClusterState } from "./framework/testing/naive-rules.ts";
import { nodesOf, podsOf, randomClusters, type Happening, type RandomCluster } from "./framework/testing/random-clusters.ts";

const RUNS = rounds({ quick: 30, full: 1_000 });

/** A cluster in which every binding is checked against the rules, in decision order. */
class Watched {
  readonly broken: string[] = [];
  readonly cluster: ScheduledServer;
  #made = 0;
  #nodes: number;

  static async start(random: RandomCluster): Promise<Watched> {
    const late: { watched?: Watched } = {};
    let last: Promise<unknown> = Promise.resolve();
    const around = bindingsThrough((request, send) => {
      const { target } = request.object as { readonly target?: { readonly name?: string } };
      const checked = last.then(() => late.watched?.check(request.name ?? "", target?.name ?? ""));
      // Sequentially: a decision counts the earlier ones.
      const sent = checked.then(send);
      last = sent.catch(() => undefined);
      return sent;
    });
    const cluster = await startScheduledServer({ around, seed: random.seed }, ...nodesOf(random));
    return (late.watched = new Watched(cluster, random.nodes.length));
  }

  constructor(cluster: ScheduledServer, nodeCount: number) {
    this.cluster = cluster;
    this.#nodes = nodeCount;
  }

  async check(podName: string, nodeName: string): Promise<void> {
    const state = await this.state();
    const pod = state.waiting.find(({ metadata }) => metadata.name === podName);
    const node = state.nodes.find(({ metadata }) => metadata.name === nodeName);
    // It was deleted after the decision: the server will report that.
    if (pod === undefined) return;
    const problems = node === undefined ? ["no such node"] : brokenRules(pod, node, state);
    if (problems.length > 0) this.broken.push(`${podName} on ${nodeName}: ${problems.join(", ")}`);
  }

  async state(): Promise<ClusterState & { readonly waiting: readonly Pod[] }> {
    const { client } = this.cluster;
    const all = (await client.list(pods)).items;
    const isPlaced = ({ spec }: Pod): boolean => spec?.nodeName !== undefined;
    const nodeList = (await client.list(nodes)).items;
    return { nodes: nodeList, placed: all.filter(isPlaced), waiting: all.filter((pod) => !isPlaced(pod)) };
  }

  async happen(happening: Happening): Promise<void> {
    const { cluster } = this;
    const { client, clock } = cluster;
    const all = await this.state();
    const node = "which" in happening ? all.nodes[happening.which % all.nodes.length] : undefined;
    const everyPod = [...all.placed, ...all.waiting];
    const pod = "which" in happening ? everyPod[happening.which % Math.max(1, everyPod.length)] : undefined;
    const podKey = { namespace: "default", name: pod?.metadata.name ?? "" };
    const change = (value: object) => client.patch(nodes, { name: node?.metadata.name ?? "" }, { type: "merge", value: value as never });
    switch (happening.do) {
      case "add pods":
        await cluster.make(...podsOf(happening.pods, this.#made));
        this.#made += happening.pods.length;
        break;
      case "add node":
        await cluster.make(aNode(`n${this.#nodes++}`, happening.node));
        break;
      case "delete pod":
        if (pod !== undefined) await client.delete(pods, podKey, { gracePeriodSeconds: 0 });
        break;
      case "uncordon":
        await change({ spec: { unschedulable: null } });
        break;
      case "untaint":
        await change({ spec: { taints: null } });
        break;
      case "relabel node":
        await change({ metadata: { labels: { disk: happening.disk } } });
        break;
      case "relabel pod":
        if (pod !== undefined) await client.patch(pods, podKey, { type: "merge", value: { metadata: { labels: { app: happening.app } } } });
        break;
    }
    await clock.settle();
  }

  /** As kubelets would: victims are removed. Then all back-offs expire. */
  async rest(): Promise<void> {
    for (let left = true; left;) {
      await this.cluster.clock.advance(30_000);
      const going = (await this.state()).placed.filter(({ metadata }) => metadata.deletionTimestamp !== undefined);
      for (const { metadata } of going)
        await this.cluster.client.delete(pods, { namespace: "default", name: metadata.name }, { gracePeriodSeconds: 0 });
      left = going.length > 0;
    }
  }
}

async function play(random: RandomCluster): Promise<Watched & AsyncDisposable> {
  const watched = await Watched.start(random);
  for (const [index, happening] of random.happenings.entries()) {
    await watched.happen(happening);
    if (index % 2 === 1) await watched.rest();
  }
  await watched.rest();
  return Object.assign(watched, { [Symbol.asyncDispose]: () => watched.cluster[Symbol.asyncDispose]() });
}

const seeded = { numRuns: RUNS, seed: testSeed() };

test("no Pod is ever bound to a node without capacity or against a hard rule, and none waits while a node is feasible", async () => {
  await fc.assert(
    fc.asyncProperty(randomClusters, async (random) => {
      await using watched = await play(random);
      deepEqual(watched.broken, []);

      const state = await watched.state();
      const inVain = state.waiting.flatMap((pod) =>
        state.nodes
          .filter((node) => brokenRules(pod, node, state).length === 0)
          .map((node) => `${pod.metadata.name} could go to ${node.metadata.name}`),
      );
      deepEqual(inVain, []);
    }),
    seeded,
  );
});

test("equal seeds place the same Pods on the same nodes", async () => {
  await fc.assert(
    fc.asyncProperty(randomClusters, async (random) => {
      await using one = await play(random);
      await using other = await play(random);
      deepEqual(await one.cluster.places(), await other.cluster.places());
    }),
    { ...seeded, numRuns: Math.ceil(RUNS / 3) },
  );
});

test("different seeds break ties differently", async () => {
  const placed = async (seed: number): Promise<string> => {
    await using watched = await play({
      nodes: Array.from({ length: 8 }, () => ({})),
      happenings: [{ do: "add pods", pods: Array.from({ length: 4 }, () => ({})) }],
      seed,
    });
    return (await watched.cluster.places()).join();
  };
  equal((await placed(1)) === (await placed(2)), false);
});
