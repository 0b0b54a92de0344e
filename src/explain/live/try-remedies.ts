/**
 * Tries remedies on copies of a cluster. A control copy without any change comes first: a problem that disappears there by itself, or that
 * the copy does not show, proves nothing about a remedy, and none is called verified.
 */
import { subjectAccessReviews } from "../../api/authorization.k8s.io/v1/subject-access-review.ts";
import type { Client, ResourceKind } from "../../client/client.ts";
import { groupResourceOf } from "../../api/machinery/object.ts";
import type { Clock } from "../../base/clock.ts";
import type { ClusterView, Subject } from "../why/cluster-view.ts";
import { why } from "../why/why.ts";
import type { Change, Explanation, Remedy, RequestedAccess } from "../why/explainer.ts";
import { listableKinds, readView } from "./read-view.ts";

/** Time in which a remedy must take effect: more than the longest back-off of containers, and than a node's timeout. */
const TRIAL_DURATION = "10m";

/** Maximum remedies that are tried: each is a cluster that runs for that time. */
const TRIALS_MAX = 4;

export type Trials =
  | { readonly is: "verified"; readonly remedy: Remedy }
  /** The copy does not have the problem, so nothing can be tried on it. */
  | { readonly is: "not reproduced" }
  | { readonly is: "none"; readonly tried: readonly Remedy[] };

/** What a trial needs of a copy. */
export interface TrialCluster extends AsyncDisposable {
  readonly client: Client;
  readonly clock: Clock;
  settle(): Promise<void>;
  advance(length: "10m"): Promise<void>;
}

/** Copies a cluster: cluster-copy.ts, and that of a cluster in a browser tab. */
export type CopyCluster = (view: ClusterView) => Promise<TrialCluster>;

/** The first remedy that works; smallest change first. */
export async function tryRemedies(
  view: ClusterView,
  subject: Subject,
  { remedies }: Explanation,
  copyCluster: CopyCluster,
): Promise<Trials> {
  if (remedies.length === 0) return { is: "none", tried: [] };
  const works = (remedy?: Remedy) => worksOn(copyCluster, view, subject, remedy);
  if (await works()) return { is: "not reproduced" };
  const tried = remedies.slice(0, TRIALS_MAX);
  for (const remedy of tried) if (await works(remedy)) return { is: "verified", remedy };
  return { is: "none", tried };
}

async function worksOn(copyCluster: CopyCluster, view: ClusterView, subject: Subject, remedy: Remedy | undefined): Promise<boolean> {
  await using copy = await copyCluster(view);
  try {
    if (remedy !== undefined) await applyChanges(copy.client, remedy.changes);
  } catch {
    // The API server of the copy refuses the change, as that of the cluster would.
    return false;
  }
  await copy.settle();
  if (remedy?.access !== undefined) return await isAllowed(copy.client, remedy.access);
  await copy.advance(TRIAL_DURATION);
  return await isHealthy(copy, view, remedy?.goal ?? subject);
}

/** An object that was being deleted is well when it is gone, all others when nothing is wrong with them. */
async function isHealthy(copy: TrialCluster, before: ClusterView, goal: Subject): Promise<boolean> {
  const after = await readView({ client: copy.client, nowMs: copy.clock.now() });
  const result = why(after, goal);
  const wasTerminating = before.get(goal)?.metadata?.deletionTimestamp !== undefined;
  return wasTerminating ? result.is === "missing" : result.is === "healthy";
}

export async function isAllowed(client: Client, access: RequestedAccess): Promise<boolean> {
  const { user, groups, verb, group, resource, subresource, namespace, name } = access;
  const review = {
    apiVersion: "authorization.k8s.io/v1",
    kind: "SubjectAccessReview",
    metadata: {},
    spec: { user, groups: [...groups], resourceAttributes: { verb, group, resource, subresource, namespace, name } },
  };
  const { status } = (await client.create(subjectAccessReviews, review as never)) as { readonly status?: { readonly allowed?: boolean } };
  return status?.allowed === true;
}

/** Makes the changes in order, as `kubectl` would. */
export async function applyChanges(client: Client, changes: readonly Change[]): Promise<void> {
  const kinds = await listableKinds(client);
  const byResource = new Map(kinds.map((kind) => [groupResourceOf(kind.storage.group, kind.plural), kind]));
  for (const change of changes) await applyChange(client, byResource, change);
}

async function applyChange(client: Client, kinds: ReadonlyMap<string, ResourceKind>, change: Change): Promise<void> {
  if (change.type === "create") {
    const { apiVersion, kind } = change.object;
    const found = [...kinds.values()].find(
      ({ kind: name, storage }) =>
        name === kind && apiVersion === (storage.group === "" ? storage.version : `${storage.group}/${storage.version}`),
    );
    if (found === undefined) throw new Error(`The cluster has no kind ${kind} in ${apiVersion}`);
    await client.create(found, change.object);
    return;
  }
  const { resource, namespace, name } = change.target;
  const kind = kinds.get(resource);
  if (kind === undefined) throw new Error(`The cluster has no resource ${resource}`);
  const key = namespace === "" ? { name } : { namespace, name };
  if (change.type === "delete") await client.delete(kind, key, change.force === true ? { gracePeriodSeconds: 0 } : {});
  else await client.patch(kind, key, { type: change.patchType ?? "merge", value: change.patch });
}
