/**
 * Objects that every cluster has from its first moment on. They are made if they are missing; what else becomes of one that is there is
 * the step's business. Steps come one after the other: a server with room for one request at a time can start, too.
 */
import type { ServerContext } from "../server-context.ts";
import type { OwnRequests } from "./own-requests.ts";

export interface BootstrapContext {
  readonly server: ServerContext;
  readonly requests: OwnRequests;
}

export type BootstrapStep = (context: BootstrapContext) => Promise<void>;

export async function bootstrap(context: BootstrapContext, steps: readonly BootstrapStep[]): Promise<void> {
  for (const step of steps) await step(context);
}
