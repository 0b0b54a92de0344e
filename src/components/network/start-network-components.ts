/**
 * Starts the network components of a process side by side and stops them in reverse order of the list. One that cannot start does not stop
 * the others or the node: the user gets a warning with the reason, `k8ts status` shows it as not running, and it is retried
 * (kept-component.ts).
 */
import type { Pod } from "../../api/generated/core/v1.ts";
import { Disposables } from "../../base/disposables.ts";
import type { FlagSet, FlagValues } from "../../cli/framework/flags.ts";
import { joinPath } from "../../host/files/files.ts";
import { networkComponents } from "./all.ts";
import { KeptComponent } from "./kept-component.ts";
import type { KernelOwner, NetworkComponent, NetworkContext } from "./network-component.ts";

export interface StartedNetworkComponents extends AsyncDisposable {
  /** The current descriptions. */
  readonly list: readonly { readonly name: string; readonly description: string }[];
  /** Called after each change of the list. */
  onChange(listener: () => void): void;
  /** Resolves when all components are ready for the Pod's first packet. Rejects with the reason if the Pod must not start now. */
  admitPod(pod: Pod, addresses: readonly string[]): Promise<void>;
}

export interface NetworkComponentsOptions extends Omit<NetworkContext, "directory" | "values" | "signal"> {
  /** "node": only those that every node runs. "cluster": also those that run once per cluster. */
  readonly scope: NetworkComponent["scope"];
  /** Values of the flags of all components. */
  readonly values: FlagValues<FlagSet>;
  /** Each component has a folder in it. */
  readonly directory: string;
  /** Default: all. */
  readonly components?: readonly NetworkComponent[];
}

/** Resolves when each runs, or its first start failed or takes long. */
export async function startNetworkComponents(options: NetworkComponentsOptions): Promise<StartedNetworkComponents> {
  const { scope, components = networkComponents, ...context } = options;
  const wanted = components.filter((component) => scope === "cluster" || component.scope === "node");
  const listeners: (() => void)[] = [];
  const onChange = (): void => listeners.forEach((listener) => listener());
  const owned = new Disposables();
  const kept = wanted.map((component) => {
    const { name } = component;
    const own = {
      directory: joinPath(options.directory, name),
      log: options.log.with({ part: name }),
      random: options.random.derive(name),
    };
    return owned.use(new KeptComponent(component, { ...context, ...own }, onChange));
  });
  await Promise.all(kept.map(({ attempted }) => attempted));
  return {
    get list() {
      return kept.map(({ name, description }) => ({ name, description }));
    },
    onChange: (listener) => void listeners.push(listener),
    async admitPod(pod, addresses) {
      await Promise.all(kept.map((component) => component.admitPod(pod, addresses)));
    },
    [Symbol.asyncDispose]: () => owned[Symbol.asyncDispose](),
  };
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
