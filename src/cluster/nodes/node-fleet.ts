/**
 * The further nodes of a running cluster on this machine: each in a network namespace of its own, as a process `k8ts join` that this one
 * supervises. Reconciles them with the files that `k8ts node` writes (node-files.ts): a node is connected, started, cut off, and removed.
 * Everything is stopped and removed from the machine with the cluster; the nodes' data is kept for the next start, which starts all again.
 */
import { watch } from "node:fs";
import { nodes as nodeKind } from "../../api/core/v1/node.ts";
import { isReason } from "../../api/machinery/status-error.ts";
import type { Clock } from "../../base/clock.ts";
import type { Logger } from "../../base/logger.ts";
import type { Client } from "../../client/client.ts";
import { joinPath, makePrivateDirectory, removeFile } from "../../host/files/files.ts";
import type { ProcessMark } from "../../host/processes/process-identity.ts";
import { SupervisedProcess, type SupervisedProcessOptions } from "../../processes/supervised-process.ts";
import type { Environment } from "../../cli/framework/command.ts";
import type { Steps } from "../../cli/framework/progress.ts";
import type { HeldHome } from "../home/cluster-home.ts";
import type { RecordedPart } from "../home/cluster-record.ts";
import { kernelOwner } from "../machine/container-paths.ts";
import { STOP_GRACE_MS } from "../../components/node/stop-pods-order.ts";
import { killNode } from "./clean-up-nodes.ts";
import {
  freeIndexes,
  nodeHome,
  nodeTokenFile,
  numberedName,
  readObservedNode,
  readWantedNodes,
  removeNodeFiles,
  segmentFile,
  whileLocked,
  writeNodeProgress,
  writeObservedNode,
  writeWantedNode,
  type NodeState,
  type ObservedNode,
  type WantedNode,
} from "./node-files.ts";
import {
  connectNode,
  nodeAddress,
  nodeNamespace,
  openSegment,
  removeNodeNamespace,
  removeSegment,
  setNodeLink,
  type Segment,
} from "./segment.ts";

/** Of a join in all. On a busy machine a node needs a minute; one that needs longer has a problem, which its output names. */
const JOINED_WITHIN_MS = 5 * 60_000;
/** Of each step of a join: shorter, so that the error names the step. */
const JOIN_STEP_TIMEOUT = "2m";
/** Its progress, other than log lines. */
const STEP = /^ {2}\S/;
/** Beyond the grace period of its Pods. */
const STOP_WITHIN_MS = STOP_GRACE_MS + 15_000;
/** Changes of files that the system does not report. */
const LOOK_EVERY_MS = 10_000;
/** The same where it cannot report any. */
const LOOK_UNWATCHED_MS = 1_000;

export interface NodeFleetOptions {
  readonly home: HeldHome["home"];
  /** Name of this machine's node: others are numbered after it. */
  readonly nodeName: string;
  /** Number of nodes with this machine's. Absent: those of the last start. */
  readonly count?: number | undefined;
  readonly clusterCidr: string;
  /** The IPv6 range of all Pods. Absent: nodes have IPv4 addresses only. */
  readonly clusterCidrIpv6?: string | undefined;
  /** Address of this machine's node. */
  readonly machineAddress: string;
  /** The same of IPv6. */
  readonly machineIpv6Address?: string | undefined;
  /** Of the administrator. */
  readonly client: Client;
  /** Arguments of `k8ts join` with which a node joins for the first time. */
  joinArguments(tokenFile: string): Promise<readonly string[]>;
  readonly environment: Environment;
  readonly steps: Steps;
  readonly clock: Clock;
  readonly log: Logger;
  readonly signal: AbortSignal;
}

interface RunningNode {
  readonly index: number;
  state: NodeState;
  process?: SupervisedProcess;
}

/** A change of a node that is under way. Those of different nodes are independent: a slow join does not delay other commands. */
interface NodeChange {
  readonly generation: number;
  /** Aborted when something else is wanted meanwhile. */
  readonly superseded: AbortController;
  readonly done: Promise<void>;
}

export class NodeFleet implements AsyncDisposable {
  readonly #options: NodeFleetOptions;
  readonly #owner: string;
  readonly #running = new Map<string, RunningNode>();
  readonly #changes = new Map<string, NodeChange>();
  readonly #stopping = new AbortController();
  readonly #listeners: (() => void)[] = [];
  #segment: Segment | undefined;
  #opening: Promise<Segment> | undefined;
  /** Something may have changed since the files were read. */
  #isDirty = true;
  #interrupt: () => void = () => {};
  #following: Promise<void> = Promise.resolve();

  /** Resolves when all nodes are registered. One that cannot be started is reported and does not stop the cluster. */
  static async start(options: NodeFleetOptions): Promise<NodeFleet> {
    const fleet = new NodeFleet(options);
    try {
      await fleet.#startAll();
    } catch (error) {
      await fleet[Symbol.asyncDispose]();
      throw error;
    }
    fleet.#following = fleet.#follow();
    return fleet;
  }

  private constructor(options: NodeFleetOptions) {
    this.#options = options;
    this.#owner = kernelOwner(options.home);
  }

  get list(): readonly RecordedPart[] {
    return [...this.#running].map(([name, { index, state, process }]) => ({
      name: "node",
      description: `${name} (${this.#segment === undefined ? "" : nodeAddress(this.#segment, index)}, ${state})`,
      ...processOf(process?.process),
    }));
  }

  onChange(listener: () => void): void {
    this.#listeners.push(listener);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#stopping.abort();
    this.#wake();
    await this.#following;
    await Promise.all([...this.#changes.values()].map(({ done }) => done));
    await Promise.all([...this.#running.values()].map((node) => this.#stop(node)));
    if (this.#segment !== undefined) await removeSegment(this.#owner);
  }

  /** A restart brings back nodes that were cut off, as a reboot of a machine does. */
  async #startAll(): Promise<void> {
    const { steps, clock } = this.#options;
    const { due, running } = await clock.external(this.#chooseNodes());
    if (due.length === 0) return;
    await steps.step(`started ${running} further ${running === 1 ? "node" : "nodes"}`, async () => {
      await Promise.all(due.map((node) => this.#begin(node)));
    });
  }

  /** Those to start or remove, and how many are to run. */
  async #chooseNodes(): Promise<{ readonly due: readonly WantedNode[]; readonly running: number }> {
    const { home, count, clock } = this.#options;
    if ((count ?? 1) === 1 && (await readWantedNodes(home)).length === 0) return { due: [], running: 0 };
    return whileLocked(home, clock, () => this.#writeWanted());
  }

  async #writeWanted(): Promise<{ readonly due: readonly WantedNode[]; readonly running: number }> {
    const { home, nodeName, count, steps } = this.#options;
    const present = await readWantedNodes(home);
    const kept = present.filter(({ wanted }) => wanted !== "removed");
    const missing = count === undefined ? 0 : count - 1 - kept.length;
    const added = freeIndexes(present, missing + present.length)
      .map((index) => ({ name: numberedName(nodeName, index), index }))
      .filter(({ name }) => !present.some((one) => one.name === name))
      .slice(0, Math.max(missing, 0));
    const again = kept
      .slice(0, count === undefined ? undefined : count - 1)
      .map(({ name, index, generation }) => ({ name, index, generation }));
    for (const { name, generation } of kept.slice(again.length)) {
      await writeObservedNode(home, name, { generation, state: "killed" });
      steps.note(
        `  node ${name} of an earlier start is not started; k8ts node start ${name} starts it, k8ts node remove ${name} deletes it`,
      );
    }
    const running = [...again, ...added];
    for (const node of running) await writeWantedNode(home, { generation: 0, ...node, wanted: "running" });
    const all = await readWantedNodes(home);
    const due = all.filter(({ name, wanted }) => wanted === "removed" || running.some((one) => one.name === name));
    return { due, running: running.length };
  }

  /** Until it is stopped. */
  async #follow(): Promise<void> {
    const { home, clock, log } = this.#options;
    const { signal } = this.#stopping;
    await clock.external(makePrivateDirectory(home.nodesDirectory));
    using watcher = this.#watch();
    while (!signal.aborted) {
      await this.#pause(watcher === undefined ? LOOK_UNWATCHED_MS : LOOK_EVERY_MS);
      if (signal.aborted) break;
      try {
        this.#isDirty = false;
        for (const node of await clock.external(readWantedNodes(home))) await this.#consider(node);
      } catch (error) {
        log.error("Reading the files of nodes failed", { error });
      }
    }
  }

  async #consider(node: WantedNode): Promise<void> {
    const current = this.#changes.get(node.name);
    // Its end wakes this loop.
    if (current !== undefined) return current.generation === node.generation ? undefined : current.superseded.abort();
    if (!(await this.#isObserved(node)) && !this.#stopping.signal.aborted) void this.#begin(node);
  }

  #begin(node: WantedNode): Promise<void> {
    const superseded = new AbortController();
    const done = this.#reconcile(node, superseded.signal)
      .catch((error: unknown) => this.#options.log.error("Writing the state of a node failed", { node: node.name, error }))
      .finally(() => {
        this.#changes.delete(node.name);
        this.#wake();
      });
    this.#changes.set(node.name, { generation: node.generation, superseded, done });
    return done;
  }

  #wake(): void {
    this.#isDirty = true;
    this.#interrupt();
  }

  /** Undefined: the system has no watch left (fs.inotify.max_user_watches). */
  #watch(): Disposable | undefined {
    const { home, log } = this.#options;
    try {
      const watcher = watch(home.nodesDirectory, () => this.#wake());
      watcher.on("error", (error) => log.warn("Watching the files of nodes failed; they are read periodically", { error }));
      return { [Symbol.dispose]: () => watcher.close() };
    } catch (error) {
      log.warn("Watching the files of nodes failed; they are read periodically", { error });
      return undefined;
    }
  }

  async #pause(milliseconds: number): Promise<void> {
    const waiting = new AbortController();
    this.#interrupt = () => waiting.abort();
    if (this.#isDirty || this.#stopping.signal.aborted) return;
    await this.#options.clock.sleep(milliseconds, waiting.signal).catch(() => undefined);
    this.#interrupt = () => {};
  }

  /** One that was not started, since fewer nodes are wanted, stays so until it is changed. */
  async #isObserved({ name, generation }: WantedNode): Promise<boolean> {
    const observed = await this.#options.clock.external(readObservedNode(this.#options.home, name));
    return observed?.generation === generation;
  }

  async #reconcile(node: WantedNode, superseded: AbortSignal): Promise<void> {
    const { home, clock, log, steps } = this.#options;
    const { name, generation, wanted } = node;
    let observed: ObservedNode = { generation, state: wanted };
    try {
      await clock.external(this.#bring(node, superseded));
    } catch (error) {
      if (this.#options.signal.aborted || this.#stopping.signal.aborted || superseded.aborted) return;
      const message = error instanceof Error ? error.message : String(error);
      log.error("Changing a node failed", { node: name, wanted, error });
      steps.note(`  warning: node ${name} is not ${wanted}: ${message}`);
      observed = { generation, state: "failed", error: message };
    }
    if (wanted === "removed" && observed.state === "removed") await clock.external(this.#removeFiles(node));
    else await clock.external(writeObservedNode(home, name, observed));
    this.#listeners.forEach((listener) => listener());
  }

  /** Unless something else is wanted meanwhile. */
  async #removeFiles({ name, generation }: WantedNode): Promise<void> {
    const { home, clock } = this.#options;
    await whileLocked(home, clock, async () => {
      const wanted = (await readWantedNodes(home)).find((one) => one.name === name);
      if (wanted === undefined || wanted.generation === generation) await removeNodeFiles(home, name);
    });
  }

  /** To the wanted state, from any. */
  async #bring({ name, index, wanted, generation }: WantedNode, superseded: AbortSignal): Promise<void> {
    const node = this.#running.get(name) ?? { index, state: "killed" };
    this.#running.set(name, node);
    switch (wanted) {
      case "running":
        return this.#run(name, node, { generation, superseded });
      case "disconnected":
        await setNodeLink(this.#owner, index, "down");
        break;
      case "paused":
        node.process?.signal("SIGSTOP");
        break;
      case "killed":
        await this.#kill(name, node);
        break;
      case "removed":
        return this.#remove(name, node);
    }
    node.state = wanted;
  }

  async #run(
    name: string,
    node: RunningNode,
    { generation, superseded }: { readonly generation: number; readonly superseded: AbortSignal },
  ): Promise<void> {
    const { machineAddress, machineIpv6Address } = this.#options;
    const segment = await this.#connected();
    await connectNode(segment, { index: node.index, machineAddress, machineIpv6Address });
    node.process?.signal("SIGCONT");
    node.process ??= await this.#join(name, { node, segment, generation, superseded });
    node.state = "running";
  }

  /** Resolves when it is registered. */
  async #join(name: string, { node, segment, generation, superseded }: NodeJoin): Promise<SupervisedProcess> {
    const { home, clock, log } = this.#options;
    const late = new AbortController();
    const joined = new AbortController();
    let last = "none";
    let writing = Promise.resolve();
    const options = this.#processOptions(name, node, segment);
    void clock.sleep(JOINED_WITHIN_MS, joined.signal).then(
      () => late.abort(new Error(`it was not registered within ${JOINED_WITHIN_MS / 60_000} minutes; its last output: ${last}`)),
      () => undefined, // It is, or has failed.
    );
    try {
      return await SupervisedProcess.start({
        ...options,
        signal: AbortSignal.any([options.signal, superseded, late.signal]),
        onLine(line) {
          if (joined.signal.aborted) return;
          last = line;
          if (!STEP.test(line)) return;
          writing = writing
            .then(() => writeNodeProgress(home, name, { generation, line }))
            .catch((error: unknown) => log.warn("Writing the progress of a node failed", { node: name, error }));
        },
      });
    } finally {
      joined.abort();
      await writing;
      await removeFile(nodeTokenFile(home, name));
    }
  }

  /** The segment, created with the first node. After a failure the next node tries again. */
  async #connected(): Promise<Segment> {
    const { home, clusterCidr, clusterCidrIpv6 } = this.#options;
    this.#opening ??= makePrivateDirectory(home.nodesDirectory).then(() =>
      openSegment({ owner: this.#owner, clusterCidr, clusterCidrIpv6, file: segmentFile(home) }),
    );
    try {
      this.#segment = await this.#opening;
      return this.#segment;
    } catch (error) {
      this.#opening = undefined;
      throw error;
    }
  }

  #processOptions(name: string, { index }: RunningNode, segment: Segment): SupervisedProcessOptions {
    const { home, steps, clock, signal } = this.#options;
    return {
      name: `node ${name}`,
      logFile: joinPath(home.logDirectory, `node-${name}.log`),
      launcher: ["nsenter", `--net=/run/netns/${nodeNamespace(this.#owner, index)}`, "--"],
      ready: /^registered node /,
      stopWithinMs: STOP_WITHIN_MS,
      words: async () => [
        "join",
        ...(await this.#options.joinArguments(nodeTokenFile(home, name))),
        `--node-name=${name}`,
        `--node-ip=${nodeAddress(segment, index)}`,
        `--data-dir=${nodeHome(home, name)}`,
        `--timeout=${JOIN_STEP_TIMEOUT}`,
      ],
      report: (line) => steps.note(line),
      onRestarted: () => this.#listeners.forEach((listener) => listener()),
      signal: AbortSignal.any([signal, this.#stopping.signal]),
      clock,
    };
  }

  /** As a power failure: nothing of it is left but its disk. */
  async #kill(name: string, node: RunningNode): Promise<void> {
    const { home, environment, clock } = this.#options;
    await node.process?.kill();
    delete node.process;
    await killNode({ directory: nodeHome(home, name), environment, clock });
    await removeNodeNamespace(this.#owner, node.index);
  }

  async #remove(name: string, node: RunningNode): Promise<void> {
    await this.#stop(node);
    await this.#kill(name, node);
    await this.#options.client.delete(nodeKind, { name }).catch((error: unknown) => {
      if (!isReason(error, "NotFound")) throw error;
    });
    this.#running.delete(name);
  }

  /** Gracefully; one that was paused must run for that. */
  async #stop(node: RunningNode): Promise<void> {
    const { process } = node;
    if (process === undefined) return;
    process.signal("SIGCONT");
    await process[Symbol.asyncDispose]();
    delete node.process;
  }
}

interface NodeJoin {
  readonly node: RunningNode;
  readonly segment: Segment;
  readonly generation: number;
  readonly superseded: AbortSignal;
}

function processOf(process: ProcessMark | undefined): Pick<RecordedPart, "process"> {
  return process === undefined ? {} : { process };
}
