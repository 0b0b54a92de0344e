/**
 * What upstream's controller manager keeps going and no cluster can do without: aggregated ClusterRoles have their rules, every
 * namespace has a ServiceAccount for its pods, and a quota shows how much of it is taken. The API server does it itself until there is
 * a controller manager, under the names and with the rights of upstream's controllers where it makes requests.
 */
import { controllerIdentity, type IdentityName } from "../../api/identities.ts";
import { QuotaBooks } from "../admission/resource-quota/quota-books.ts";
import { withAuthenticatedGroup } from "../authentication/chain.ts";
import { inProcessTransport } from "../in-process.ts";
import type { Pipeline } from "../pipeline.ts";
import type { ServerContext } from "../server-context.ts";
import { AggregatedRoles } from "./aggregated-roles.ts";
import { DefaultServiceAccounts } from "./default-service-accounts.ts";
import { OwnRequests } from "./own-requests.ts";
import { QuotaStatuses } from "./quota-statuses.ts";

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
    new QuotaStatuses({ objects, books: new QuotaBooks(server), clock, log }),
  ];
}

function actor(name: string): { readonly user: IdentityName; readonly userAgent: string } {
  return { user: withAuthenticatedGroup(controllerIdentity(name)), userAgent: name };
}
