/**
 * Starts the network components of a process side by side and stops them in reverse order of the list. One that cannot start does not stop
 * the others or the node: the user gets a warning with the reason, and `k8ts status` shows it as not running. One that takes long continues
 * to start in the background.
 */
import type { Pod } from "../../api/generated/core/v1.ts";
import type { Clock } from "../../base/clock.ts";
import { Disposables } from "../../base/disposables.ts";
import type { FlagSet, FlagValues } from "../../cli/framework/flags.ts";
import { joinPath } from "../../host/files/files.ts";
import { networkComponents } from "./all.ts";
import type { KernelOwner, NetworkComponent, NetworkContext, RunningNetworkComponent } from "./network-component.ts";

export interface StartedNetworkComponents extends AsyncDisposable {
  readonly list: readonly { readonly name: string; readonly description: string }[];
  /** Resolves when all components are ready for the Pod's first packet. */
  admitPod(pod: Pod, addresses: readonly string[]): Promise<void>;
}

export interface NetworkComponentsOptions extends Omit<NetworkContext, "directory" | "values"> {
  /** "node": only those that every node runs. "cluster": also those that run once per cluster. */
  readonly scope: NetworkComponent["scope"];
  /** Values of the flags of all components. */
  readonly values: FlagValues<FlagSet>;
  /** Each component has a folder in it. */
  readonly directory: string;
  /** Default: all. */
  readonly components?: readonly NetworkComponent[];
}

/** Longer than a start on a busy machine. A component waits for its informers, and the API server may be away when a node starts. */
const START_TIMEOUT_MS = 60_000;

export async function startNetworkComponents(options: NetworkComponentsOptions): Promise<StartedNetworkComponents> {
  const { scope, components = networkComponents } = options;
  const wanted = components.filter((component) => scope === "cluster" || component.scope === "node");
  const started = await Promise.all(wanted.map((component) => tryStart(component, options)));
  const owned = new Disposables();
  for (const attempt of started) owned.defer(() => attempt.stop());
  return {
    list: started.map(({ name, description }) => ({ name, description })),
    async admitPod(pod, addresses) {
      await Promise.all(started.map(async ({ running }) => running?.admitPod?.(pod, addresses)));
    },
    [Symbol.asyncDispose]: () => owned[Symbol.asyncDispose](),
  };
}

interface Attempt {
  readonly name: string;
  readonly description: string;
  /** Undefined: it could not start, or has not yet. */
  readonly running: RunningNetworkComponent | undefined;
  stop(): Promise<void>;
}

async function tryStart(component: NetworkComponent, options: NetworkComponentsOptions): Promise<Attempt> {
  const { name } = component;
  const { clock } = options;
  let running: RunningNetworkComponent | undefined;
  let isStopped = false;
  const attempt = (description: string): Attempt => ({
    name,
    description,
    get running() {
      return running;
    },
    async stop() {
      isStopped = true;
      await running?.[Symbol.asyncDispose]();
    },
  });
  const starting = startOne(component, options).then(async (started) => {
    if (isStopped) await started[Symbol.asyncDispose]();
    else running = started;
  });
  try {
    await within(starting, clock);
    return attempt(running?.description ?? "starting");
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    options.log.error("Starting a network component failed", { component: name, error });
    options.warn(`${name} is not running: ${reason}`);
    return attempt(`not running: ${reason}`);
  }
}

function startOne(component: NetworkComponent, options: NetworkComponentsOptions): Promise<RunningNetworkComponent> {
  const { name } = component;
  const { scope: _scope, components: _components, ...context } = options;
  return component.start({ ...context, directory: joinPath(options.directory, name), log: options.log.with({ part: name }) });
}

/** Rejects after START_TIMEOUT_MS; `starting` continues. */
async function within(starting: Promise<void>, clock: Clock): Promise<void> {
  const done = new AbortController();
  const late = clock.sleep(START_TIMEOUT_MS, done.signal).then(
    () => {
      throw new Error(`it did not start within ${START_TIMEOUT_MS / 1_000} s and continues in the background; its log has the reason`);
    },
    () => {}, // Cancelled.
  );
  late.catch(() => {});
  try {
    await Promise.race([starting, late]);
  } finally {
    done.abort();
  }
}

/** Removes the kernel state of all components, in reverse order of their start. All are tried; rejects with the first error. */
export async function cleanUpNetworkComponents(owner: KernelOwner, components = networkComponents): Promise<void> {
  await using cleaning = new Disposables();
  for (const component of components) if (component.cleanUp !== undefined) cleaning.defer(() => component.cleanUp?.(owner));
}

/** The flags of all components, and those of nodes only. */
export function networkFlags(scope: NetworkComponent["scope"], components = networkComponents): FlagSet {
  const wanted = components.filter((component) => scope === "cluster" || component.scope === "node");
  return Object.assign({}, ...wanted.map(({ flags }) => flags)) as FlagSet;
}
