/** A scheduler's configuration: complete, validated and in internal units. read-configuration.ts creates it. */
import type { PluginFactory } from "../framework/plugin.ts";
import type { PluginSets } from "./plugin-sets.ts";

export interface SchedulerConfiguration {
  readonly podInitialBackoffMs: number;
  readonly podMaxBackoffMs: number;
  readonly leaderElection: LeaderElection;
  /** Kubeconfig path; empty: not configured here. */
  readonly kubeconfig: string;
  /** In document order; at least one, each with a unique name. */
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
  /** Plugin arguments; plugins without any get their defaults. */
  readonly arguments: ReadonlyMap<string, unknown>;
}

/** The available plugins. */
export interface PluginCatalog {
  /** The default profile, in call order. `weight`: score weight. */
  // oxlint-disable-next-line typescript/no-explicit-any -- each plugin's arguments are its own business.
  readonly defaults: readonly { readonly factory: PluginFactory<any>; readonly weight?: number }[];
  /** Optional plugins. */
  // oxlint-disable-next-line typescript/no-explicit-any -- as above.
  readonly others?: readonly PluginFactory<any>[];
}

/** All that there are, by name. */
export function factoriesOf({ defaults, others = [] }: PluginCatalog): ReadonlyMap<string, PluginFactory> {
  return new Map([...defaults.map(({ factory }) => factory), ...others].map((factory) => [factory.name, factory]));
}
