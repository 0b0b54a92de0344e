/** A cluster of the page with its prompt and the time that passes for it, from its start until it is replaced by a new one. */
import { Disposables } from "../../base/disposables.ts";
import { seededRandom } from "../../base/random.ts";
import { VirtualClock } from "../../base/virtual-clock.ts";
import type { Browser } from "../../dashboard/web/page/browser.ts";
import { eventLoopMacrotask } from "../host/event-loop.ts";
import { Pace, type Speed } from "../cluster/pace.ts";
import { startTabCluster, type TabCluster } from "../cluster/tab-cluster.ts";
import { explainingConnection } from "../cluster/explaining-connection.ts";
import { tabCopies } from "../cluster/tab-copy.ts";
import { Prompt } from "../prompt/prompt.ts";
import type { ClusterConnection } from "../../dashboard/data/connection.ts";
import type { TabBrowser } from "./page/tab-browser.ts";

export interface RunningTab extends AsyncDisposable {
  /** Distinguishes it from its predecessors. */
  readonly id: number;
  readonly cluster: TabCluster;
  /** Of the dashboard. */
  readonly connection: ClusterConnection;
  readonly prompt: Prompt;
  readonly pace: Pace;
  /** The browser as the dashboard sees it: with the time of the cluster, and logged in. */
  readonly browser: Browser;
  /** Resolves with the reason if time cannot pass any more. */
  readonly failed: Promise<Error>;
}

let count = 0;

export async function startRunningTab({ dashboard, seed }: TabBrowser, speed: Speed): Promise<RunningTab> {
  const clock = new VirtualClock({ macrotask: eventLoopMacrotask, startMs: dashboard.clock.now() });
  const cluster = await startTabCluster({ clock, random: seededRandom(seed()) });
  const { client, nodes, components, driver } = cluster;
  const life = new AbortController();
  const owned = new Disposables();
  const pace = new Pace(driver, dashboard.clock, speed);
  const copyCluster = tabCopies(eventLoopMacrotask);
  const prompt = new Prompt({ connection: cluster.connection, client, nodes, components, clock, copyCluster });
  owned.defer(() => cluster[Symbol.asyncDispose]());
  owned.defer(() => {
    life.abort(new Error("The cluster is stopped"));
    prompt.stopBackground();
    return Promise.resolve();
  });
  const failed = new Promise<Error>((resolve) => void pace.run(life.signal).catch(resolve));
  return {
    ...{ id: ++count, cluster, prompt, pace, failed },
    connection: explainingConnection(cluster, copyCluster),
    browser: {
      ...dashboard,
      // Ages are those of the cluster's time; waiting stays real.
      clock: { ...dashboard.clock, now: () => clock.now() },
      session: { read: () => "page", write: () => undefined },
      takeLoginCode: () => undefined,
    },
    [Symbol.asyncDispose]: () => owned[Symbol.asyncDispose](),
  };
}
