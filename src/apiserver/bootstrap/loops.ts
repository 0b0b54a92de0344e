/**
 * What upstream's controller manager keeps going and no cluster can do without: aggregated ClusterRoles have their rules, and every
 * namespace has a ServiceAccount for its pods. The API server does it itself, under the names and with the rights of upstream's
 * controllers, until there is a controller manager.
 */
import { controllerIdentity, type IdentityName } from "../../api/identities.ts";
import { withAuthenticatedGroup } from "../authentication/chain.ts";
import { inProcessTransport } from "../in-process.ts";
import type { Pipeline } from "../pipeline.ts";
import type { ServerContext } from "../server-context.ts";
import { AggregatedRoles } from "./aggregated-roles.ts";
import { DefaultServiceAccounts } from "./default-service-accounts.ts";
import { OwnRequests } from "./own-requests.ts";

export interface ServerLoop {
  /** Resolves when it knows what is there; what is missing is made afterwards, and nobody waits for it. */
  start(): Promise<void>;
  /** Nothing begins any more. */
  close(): void;
}

export function serverLoops(server: ServerContext, pipeline: Pipeline): readonly ServerLoop[] {
  const { objects, clock, log } = server;
  const aggregation = actor("clusterrole-aggregation-controller");
  const transport = inProcessTransport(pipeline, actor("service-account-controller"));
  return [
    new AggregatedRoles({ server, requests: new OwnRequests(pipeline, aggregation) }),
    new DefaultServiceAccounts({ objects, transport, clock, log }),
  ];
}

function actor(name: string): { readonly user: IdentityName; readonly userAgent: string } {
  return { user: withAuthenticatedGroup(controllerIdentity(name)), userAgent: name };
}
