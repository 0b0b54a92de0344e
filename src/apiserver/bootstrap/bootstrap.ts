/**
 * Objects that every cluster has from its first moment on. They are made if they are missing, at start and whenever somebody deletes
 * them (keeper.ts); what else becomes of one that is there is the step's business. Steps come one after the other: a server with room
 * for one request at a time can start, too.
 */
import type { PostStartHook, PostStartHooks } from "./post-start-hooks.ts";
import type { ServerContext } from "../framework/server-context.ts";
import type { OwnRequests } from "../framework/own-requests.ts";

export interface BootstrapContext {
  readonly server: ServerContext;
  readonly requests: OwnRequests;
}

export interface BootstrapStep {
  /** Upstream's name for it, for the health checks. Absent: upstream has no such step, or it is a part of another. */
  readonly hook?: PostStartHook;
  /** Does nothing if everything is as it should be. */
  make(context: BootstrapContext): Promise<void>;
  /** Whose end wakes the step again. */
  readonly keeps: readonly KeptObject[];
}

export interface KeptObject {
  readonly group: string;
  readonly plural: string;
  /** "" for what is in none. */
  readonly namespace: string;
  readonly name: string;
  /** Any change of it wakes the step, too. */
  readonly always?: true;
}

export async function bootstrap(context: BootstrapContext, steps: readonly BootstrapStep[], hooks: PostStartHooks): Promise<void> {
  for (const step of steps) {
    await step.make(context);
    hooks.finished(step.hook);
  }
}
