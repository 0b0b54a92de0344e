/**
 * Empties a terminating namespace, then finalizes it. Pods are deleted first, and while one remains nothing else is touched: what protects
 * the others from them (network policies) and what they need to terminate well must outlive them. Then everything of every kind is deleted,
 * in parallel. When a live read finds nothing of any kind, "kubernetes" is removed from `spec.finalizers`.
 *
 * Slow deletions (Pods, foreign finalizers) trigger a reconciliation when they complete; besides, it is requeued after upstream's estimate,
 * so that the conditions stay current. Upstream waits five seconds before it begins, for API servers that have not observed the deletion
 * yet; here what such a server admits is found by the final read, without waiting. Unlike upstream, a namespace is finalized without groups
 * whose aggregated API server is down for long (unavailable-groups.ts).
 */
import { apiServices } from "../../api/apiregistration.k8s.io/v1/api-service.ts";
import type { APIService } from "../../api/generated/apiregistration.k8s.io/v1.ts";
import type { Namespace } from "../../api/generated/core/v1.ts";
import { namespaces } from "../../api/core/v1/namespace.ts";
import type { KubeObject } from "../../api/machinery/object.ts";
import { isReason } from "../../api/machinery/status-error.ts";
import { parseTime } from "../../api/machinery/time.ts";
import { Lru } from "../../base/lru.ts";
import type { ResourceKind } from "../../client/client.ts";
import { discover, type DiscoveredKind, type DiscoveryFailure } from "../../client/discovery.ts";
import type { Reader } from "../../client/informer/informer.ts";
import { after, defineController, onChange, type Change, type Outcome, type Pass, type WorkKey } from "../runtime/controller.ts";
import { isFollowed } from "../runtime/all-kinds.ts";
import { keyOf } from "../runtime/keys.ts";
import { inTurns } from "../runtime/concurrent-writes.ts";
import { conditionsOf, type NamespaceFindings } from "./namespace-conditions.ts";
import { emptyKind, isPodKind, problemOf, type KindRemainder } from "./namespace-content.ts";
import { sortFailures } from "./unavailable-groups.ts";

const KUBERNETES_FINALIZER = "kubernetes";
/** As upstream. */
const CONCURRENCY = 10;
/** Concurrent deletions of kinds within one reconciliation. */
const ATTEMPTS_MAX = 4;
/** Concurrently terminating namespaces. */
const CACHED_MAX = 1_000;

export const namespaceController = defineController({
  name: "namespace-controller",
  aliases: ["namespace"],
  account: "namespace-controller",
  rules: [
    { apiGroups: [""], resources: ["namespaces"], verbs: ["get", "list", "watch"] },
    { apiGroups: [""], resources: ["namespaces/finalize", "namespaces/status"], verbs: ["update"] },
    { apiGroups: ["*"], resources: ["*"], verbs: ["get", "list", "watch", "delete", "deletecollection"] },
  ],
  watches: [
    { kind: namespaces, keys: goingItself },
    { kind: apiServices, keys: allGoing },
    { everyKind: true, keys: itsGoingNamespace },
  ],
  concurrency: CONCURRENCY,
  start() {
    const waits = new Lru<string, Wait>({ max: CACHED_MAX });
    return (key, pass) => empty(key, pass, waits);
  },
});

function* goingItself({ is, object }: Change<Namespace>): Iterable<WorkKey> {
  if (is !== "deleted" && object.metadata.deletionTimestamp !== undefined) yield keyOf(object);
}

/** A group that they waited for may have returned, or ceased to exist. */
function* allGoing({ object: { spec } }: Change<APIService>, read: Reader): Iterable<WorkKey> {
  if (spec?.service === undefined) return;
  for (const namespace of read.list(namespaces)) if (namespace.metadata.deletionTimestamp !== undefined) yield keyOf(namespace);
}

/** A deletion that may have been the last object in it. */
function* itsGoingNamespace({ is, object }: Change, read: Reader): Iterable<WorkKey> {
  const { namespace } = object.metadata;
  if (is !== "deleted" || namespace === undefined) return;
  if (read.get(namespaces, { name: namespace })?.metadata.deletionTimestamp !== undefined) yield { name: namespace };
}

/**
 * What a namespace waits for: as long as this object exists and the estimate has not expired, a reconciliation would find nothing to do.
 * Without it, each of 5,000 Pods that terminate one by one would cause all kinds to be listed. Only an optimisation: losing it costs one
 * more reconciliation.
 */
interface Wait {
  readonly kind: ResourceKind;
  readonly object: KubeObject;
  readonly untilMs: number;
}

async function empty({ name }: WorkKey, pass: Pass, waits: Lru<string, Wait>): Promise<Outcome> {
  const { read, write, clock } = pass;
  const found = read.get(namespaces, { name });
  if (found?.metadata.deletionTimestamp === undefined || (found.spec?.finalizers ?? []).length === 0) return onChange;
  const wait = waits.get(found.metadata.uid ?? "");
  if (wait !== undefined && isStillThere(wait, read) && clock.monotonic() < wait.untilMs) return after(wait.untilMs - clock.monotonic());

  const namespace = await withPhase(found, pass);
  const { findings, remainders } = await emptyAll(namespace, pass);
  const conditions = conditionsOf(namespace, findings, clock.now());
  const isNews = conditions !== namespace.status?.conditions;
  const reported = isNews ? await write.updateStatus(namespaces, { ...namespace, status: { ...namespace.status, conditions } }) : namespace;
  const { blocking, abandoned, waitMs } = sortFailures(
    findings.undiscovered,
    (service) => read.get(apiServices, { name: service }),
    clock.now(),
  );
  throwIfAnyFailed(name, findings.problems, blocking);
  if (waitMs !== undefined) return after(waitMs);

  const estimateSeconds = remainders.reduce((longest, remainder) => Math.max(longest, remainder.estimateSeconds), 0);
  if (estimateSeconds > 0) return waitFor(remainders, estimateSeconds, reported, { waits, clock });
  for (const { groupVersion, error } of abandoned) {
    pass.log.warn("Finalizing a namespace without a group whose API server is down: its objects there, if any, remain", {
      namespace: name,
      groupVersion,
      error: messageOf(error),
    });
  }
  await finalize(reported, pass);
  return onChange;
}

/** The API server has already written it; one that was deleted by an older server may lack it. */
async function withPhase(namespace: Namespace, { write }: Pass): Promise<Namespace> {
  if (namespace.status?.phase === "Terminating") return namespace;
  return write.updateStatus(namespaces, { ...namespace, status: { ...namespace.status, phase: "Terminating" } });
}

interface Emptied {
  readonly findings: NamespaceFindings;
  readonly remainders: readonly KindRemainder[];
}

async function emptyAll(namespace: Namespace, { write, clock }: Pass): Promise<Emptied> {
  const { name, deletionTimestamp = "" } = namespace.metadata;
  const { preferred, failures: undiscovered } = await discover(write);
  const kinds = preferred.filter(({ scope, verbs }) => scope === "Namespaced" && verbs.includes("delete"));
  const terminatingForMs = clock.now() - (parseTime(deletionTimestamp) ?? clock.now());
  const options = { namespace: name, terminatingForMs, write };

  const pods = await emptyKinds(kinds.filter(isPodKind), options);
  if (pods.remainders.some(({ count }) => count > 0) || pods.problems.length > 0) {
    return { findings: { undiscovered, problems: pods.problems }, remainders: pods.remainders };
  }
  const { remainders, problems } = await emptyKinds(
    kinds.filter((kind) => !isPodKind(kind)),
    options,
  );
  return { findings: { undiscovered, problems, remainders }, remainders };
}

/** Concurrently. A failing kind does not prevent the others. */
async function emptyKinds(
  kinds: readonly DiscoveredKind[],
  options: Omit<Parameters<typeof emptyKind>[0], "kind">,
): Promise<{ readonly remainders: readonly KindRemainder[]; readonly problems: readonly string[] }> {
  const problems: string[] = [];
  const remainders = await inTurns(kinds, async (kind) => {
    try {
      const remainder = await whileUnavailable(() => emptyKind({ ...options, kind }));
      const problem = problemOf(remainder, options.namespace);
      if (problem !== undefined) problems.push(problem);
      return [remainder];
    } catch (error) {
      problems.push(messageOf(error));
      return [];
    }
  });
  return { remainders: remainders.flat(), problems };
}

/**
 * A reconciliation sends a hundred requests and more: if one lost response failed it, an unreliable connection would never complete one.
 */
async function whileUnavailable<T>(work: () => Promise<T>): Promise<T> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await work();
    } catch (error) {
      if (attempt >= ATTEMPTS_MAX || !isReason(error, "ServiceUnavailable")) throw error;
    }
  }
}

function throwIfAnyFailed(name: string, problems: readonly string[], undiscovered: readonly DiscoveryFailure[]): void {
  const failures = [...problems, ...undiscovered.map(({ groupVersion, error }) => `${groupVersion}: ${messageOf(error)}`)];
  if (failures.length > 0) throw new Error(`Cannot empty namespace ${JSON.stringify(name)}: ${failures.join(", ")}`);
}

/** Half of the estimate, as upstream. */
function waitFor(
  remainders: readonly KindRemainder[],
  estimateSeconds: number,
  { metadata: { uid = "" } }: Namespace,
  { waits, clock }: { readonly waits: Lru<string, Wait>; readonly clock: Pass["clock"] },
): Outcome {
  const delayMs = (Math.floor(estimateSeconds / 2) + 1) * 1_000;
  const reported = remainders.find(({ kind, last }) => last !== undefined && isFollowed(kind));
  if (reported?.last !== undefined) waits.set(uid, { kind: reported.kind, object: reported.last, untilMs: clock.monotonic() + delayMs });
  return after(delayMs);
}

/** If the kind was removed, or is watched in another version by now, nothing is known: then it is read once more. */
function isStillThere({ kind, object }: Wait, read: Reader): boolean {
  return read.knows(kind) && read.get(kind, keyOf(object))?.metadata.uid === object.metadata.uid;
}

/** Foreign finalizers keep it until they are removed as well. */
async function finalize(namespace: Namespace, { write }: Pass): Promise<void> {
  const finalizers = namespace.spec?.finalizers ?? [];
  if (!finalizers.includes(KUBERNETES_FINALIZER)) return;
  const others = [...new Set(finalizers.filter((name) => name !== KUBERNETES_FINALIZER))].toSorted();
  try {
    await write.update(namespaces, { ...namespace, spec: { ...namespace.spec, finalizers: others } }, { subresource: "finalize" });
  } catch (error) {
    if (!isReason(error, "NotFound")) throw error;
  }
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
