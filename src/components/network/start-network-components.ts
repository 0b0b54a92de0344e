/**
 * Starts the network components of a process side by side and stops them in reverse order of the list. One that cannot start does not stop
 * the others or the node: the user gets a warning with the reason, and `k8ts status` shows it as not running.
 */
import type { Pod } from "../../api/generated/core/v1.ts";
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

export async function startNetworkComponents(options: NetworkComponentsOptions): Promise<StartedNetworkComponents> {
  const { scope, components = networkComponents } = options;
  const wanted = components.filter((component) => scope === "cluster" || component.scope === "node");
  const started = await Promise.all(wanted.map((component) => tryStart(component, options)));
  const owned = new Disposables();
  for (const { running } of started) if (running !== undefined) owned.use(running);
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
  readonly running?: RunningNetworkComponent;
}

async function tryStart(component: NetworkComponent, options: NetworkComponentsOptions): Promise<Attempt> {
  const { name } = component;
  const { scope: _scope, components: _components, ...context } = options;
  try {
    const running = await component.start({
      ...context,
      directory: joinPath(options.directory, name),
      log: options.log.with({ part: name }),
    });
    return { name, description: running.description, running };
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    options.log.error("Starting a network component failed", { component: name, error });
    options.warn(`${name} is not running: ${reason}`);
    return { name, description: `not running: ${reason}` };
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
