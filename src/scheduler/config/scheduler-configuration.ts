/** A scheduler's configuration, read: complete, checked and in the units that the code works with. read-configuration.ts makes it. */
import type { PluginFactory } from "../framework/plugin.ts";
import type { PluginSets } from "./plugin-sets.ts";

export interface SchedulerConfiguration {
  readonly podInitialBackoffMs: number;
  readonly podMaxBackoffMs: number;
  readonly leaderElection: LeaderElection;
  /** The path of a kubeconfig; empty: not said here. */
  readonly kubeconfig: string;
  /** In the order of the document; at least one, each with a name of its own. */
  readonly profiles: readonly ProfileConfiguration[];
}

export interface LeaderElection {
  readonly leaderElect: boolean;
  readonly leaseDurationMs: number;
  readonly renewDeadlineMs: number;
  readonly retryPeriodMs: number;
  readonly resourceNamespace: string;
  readonly resourceName: string;
}

export interface ProfileConfiguration {
  readonly schedulerName: string;
  /** 0: adaptive. */
  readonly percentageOfNodesToScore: number;
  readonly plugins: PluginSets;
  /** What plugins are made with, by plugin; those that say nothing about theirs get their defaults. */
  readonly arguments: ReadonlyMap<string, unknown>;
}

/** The plugins that there are. */
export interface PluginCatalog {
  /** What a profile has unless it says otherwise, in the order of asking. `weight`: how much its score counts. */
  // oxlint-disable-next-line typescript/no-explicit-any -- each plugin's arguments are its own business.
  readonly defaults: readonly { readonly factory: PluginFactory<any>; readonly weight?: number }[];
  /** What a profile may enable beside. */
  // oxlint-disable-next-line typescript/no-explicit-any -- as above.
  readonly others?: readonly PluginFactory<any>[];
}

/** All that there are, by name. */
export function factoriesOf({ defaults, others = [] }: PluginCatalog): ReadonlyMap<string, PluginFactory> {
  return new Map([...defaults.map(({ factory }) => factory), ...others].map((factory) => [factory.name, factory]));
}
