/**
 * Objects that every cluster has from the start. They are created if missing, at start and after a deletion (bootstrap-reconciler.ts); each step decides
 * how it reconciles existing ones. Steps run one after the other, so that a server with an in-flight limit of one can start, too.
 */
import type { PostStartHook, PostStartHooks } from "./post-start-hooks.ts";
import type { ServerContext } from "../framework/server-context.ts";
import type { OwnRequests } from "../framework/own-requests.ts";

export interface BootstrapContext {
  readonly server: ServerContext;
  readonly requests: OwnRequests;
}

export interface BootstrapStep {
  /** Upstream's name of the post-start hook, for the health checks. Absent: upstream has no such hook, or it is a part of another. */
  readonly hook?: PostStartHook;
  /** Does nothing if everything is up to date. */
  make(context: BootstrapContext): Promise<void>;
  /** Objects whose deletion triggers the step again. */
  readonly keeps: readonly KeptObject[];
}

export interface KeptObject {
  readonly group: string;
  readonly plural: string;
  /** "" for cluster-scoped ones. */
  readonly namespace: string;
  readonly name: string;
  /** Any change of it triggers the step, too. */
  readonly always?: true;
}

export async function bootstrap(context: BootstrapContext, steps: readonly BootstrapStep[], hooks: PostStartHooks): Promise<void> {
  for (const step of steps) {
    await step.make(context);
    hooks.finished(step.hook);
  }
}
