/** A cluster as in a browser tab, in this process, with a prompt whose commands let virtual time pass. */
import { seededRandom } from "../../src/base/random.ts";
import { VirtualClock } from "../../src/base/virtual-clock.ts";
import { startTabCluster, type TabCluster } from "../../src/browser/cluster/tab-cluster.ts";
import { tabCopies } from "../../src/browser/cluster/tab-copy.ts";
import { Prompt, type Outcome } from "../../src/browser/prompt/prompt.ts";
import { realMacrotask } from "../../src/host/real-clock.ts";

/** Virtual time that a command may take: a node failure needs six minutes. */
const COMMAND_MAX_MS = 15 * 60_000;

export interface RunOptions {
  /** False: no time of the cluster passes meanwhile, as for trials on a copy, which has its own. Default: true. */
  readonly passesTime?: boolean;
}

export interface TabPrompt extends AsyncDisposable {
  readonly cluster: TabCluster;
  readonly prompt: Prompt;
  /** What it printed; standard error follows in its place. */
  run(text: string, options?: RunOptions): Promise<{ readonly outcome: Outcome; readonly text: string }>;
  /** Everything that was printed, by commands in the background, too. */
  readonly printed: readonly string[];
}

export async function startTabPrompt(seed = 1): Promise<TabPrompt> {
  const clock = new VirtualClock({ macrotask: realMacrotask });
  const cluster = await startTabCluster({ clock, random: seededRandom(seed) });
  const { connection, client, nodes, components, driver } = cluster;
  const prompt = new Prompt({ connection, client, nodes, components, clock, copyCluster: tabCopies(realMacrotask) });
  const printed: string[] = [];
  const print = (text: string) => void printed.push(text);
  return {
    cluster,
    prompt,
    printed,
    async run(text, { passesTime = true } = {}) {
      const from = printed.length;
      const running = prompt.run(text, { out: print, warn: print }, new AbortController().signal);
      const outcome = await (passesTime ? driver.toTheEnd(running, COMMAND_MAX_MS) : driver.whenever(running));
      await driver.settle();
      return { outcome, text: printed.slice(from).join("\n") };
    },
    async [Symbol.asyncDispose]() {
      prompt.stopBackground();
      await cluster[Symbol.asyncDispose]();
    },
  };
}
