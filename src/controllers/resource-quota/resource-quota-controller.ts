/**
 * Maintains the usage of a ResourceQuota. Admission charges writes; this counts what exists: when a quota is created or changed, when a
 * counted object is created, deleted or changes its usage, and when the status was modified.
 *
 * Objects are read live after the quota was read, so that the count is at least as recent as the quota; and it is written with optimistic
 * concurrency. So whatever was charged together with its object is in the count, or the write is rejected and repeated. What was charged
 * before its object (under several quotas) may be missed briefly; the object itself triggers its quotas when it is created.
 */
import { resourceQuotas } from "../../api/core/v1/resource-quota.ts";
import { areSameLists, listOf } from "../../api/core/v1/resource-quota/amounts.ts";
import { justNow, type QuotaEvaluator, type QuotaSurroundings } from "../../api/core/v1/resource-quota/evaluator.ts";
import { evaluatorOf, evaluatorsOf, hardNames, needsDeviceClasses, usageOfAll } from "../../api/core/v1/resource-quota/evaluators.ts";
import { isInAllScopes } from "../../api/core/v1/resource-quota/scopes.ts";
import { pods } from "../../api/core/v1/pod.ts";
import type { Pod, ResourceQuota } from "../../api/generated/core/v1.ts";
import type { KubeObject } from "../../api/machinery/object.ts";
import { deviceClasses } from "../../api/resource.k8s.io/v1/device-class.ts";
import { resourceClaims } from "../../api/resource.k8s.io/v1/resource-claim.ts";
import type { ResourceKind } from "../../client/client.ts";
import type { Reader } from "../../client/informer/informer.ts";
import {
  after,
  defineController,
  onChange,
  watch,
  watchEveryKind,
  type Change,
  type ControllerContext,
  type Pass,
  type Reconcile,
  type WorkKey,
} from "../runtime/controller.ts";
import { itself, keyOf, keyText } from "../runtime/keys.ts";

/** Minimum interval between counts of a busy namespace: admission maintains the usage meanwhile. */
const COUNT_AGAIN_MS = 1_000;
/** Upstream's resync: a terminating object counts less once its grace period has expired, for which there is no event. */
const RESYNC_MS = 300_000;

export const resourceQuotaController = defineController({
  name: "resourcequota-controller",
  aliases: ["resourcequota"],
  account: "resourcequota-controller",
  rules: [
    { apiGroups: ["*"], resources: ["*"], verbs: ["list", "watch"] },
    { apiGroups: [""], resources: ["resourcequotas/status"], verbs: ["update"] },
  ],
  watches: [watch(resourceQuotas, itself), watchEveryKind(quotasThatCount)],
  start,
});

/** Quotas of its namespace that concern its kind. */
function* quotasThatCount(change: Change, read: Reader, kind: ResourceKind): Iterable<WorkKey> {
  const { namespace } = change.object.metadata;
  if (namespace === undefined) return;
  const quotas = read.list(resourceQuotas, namespace);
  if (quotas.length === 0) return;
  const evaluator = evaluatorOf(kind.storage.group, kind.plural);
  const surroundings = justNow(0);
  const isEveryQuotaConcerned = changesUsage(change, evaluator, surroundings);
  for (const quota of quotas) {
    if (!isEveryQuotaConcerned && !changesScope(change, evaluator, quota)) continue;
    if (needsDeviceClasses(quota) || evaluator.namesAmong(hardNames(quota), surroundings).length > 0) yield keyOf(quota);
  }
}

/** An update can move an object into or out of the quota's scopes without a change of usage: activeDeadlineSeconds, a class of a claim. */
function changesScope({ object, previous }: Change, evaluator: QuotaEvaluator, quota: ResourceQuota): boolean {
  return previous !== undefined && isInAllScopes(evaluator, quota, object) !== isInAllScopes(evaluator, quota, previous);
}

function changesUsage({ is, object, previous }: Change, evaluator: QuotaEvaluator, surroundings: QuotaSurroundings): boolean {
  if (is !== "updated" || previous === undefined) return true;
  if (object.metadata.deletionTimestamp !== previous.metadata.deletionTimestamp) return true;
  return !areSameLists(listOf(evaluator.usageOf(object, surroundings)), listOf(evaluator.usageOf(previous, surroundings)));
}

function start({ clock, kinds }: ControllerContext): Reconcile {
  /** Time of the last count; if lost, it is counted once more. */
  const countedAtMs = new Map<string, number>();
  return async (key, pass) => {
    const quota = pass.read.get(resourceQuotas, key);
    const name = keyText(key);
    if (quota === undefined) {
      countedAtMs.delete(name);
      return onChange;
    }
    const waitMs = (countedAtMs.get(name) ?? -Infinity) + COUNT_AGAIN_MS - clock.monotonic();
    if (waitMs > 0 && areSameLists(quota.spec?.hard, quota.status?.hard)) return after(waitMs);
    countedAtMs.set(name, clock.monotonic());
    const { used, isTerminating } = await count(quota, kinds(), pass);
    const status = { hard: quota.spec?.hard ?? {}, used };
    if (!areSameLists(status.hard, quota.status?.hard) || !areSameLists(status.used, quota.status?.used)) {
      await pass.write.updateStatus(resourceQuotas, { ...quota, status });
    }
    return isTerminating ? after(RESYNC_MS) : onChange;
  };
}

interface Counted {
  readonly used: Readonly<Record<string, string>>;
  /** Whether a counted object is terminating. */
  readonly isTerminating: boolean;
}

async function count(quota: ResourceQuota, kinds: readonly ResourceKind[], pass: Pass): Promise<Counted> {
  const { namespace = "" } = quota.metadata;
  const surroundings = needsDeviceClasses(quota) ? await surroundingsOf(namespace, pass) : justNow(pass.clock.now());
  const counted = await Promise.all(
    evaluatorsOf(quota, surroundings).flatMap((evaluator) => {
      // A kind that is not served is not counted, and has no usage.
      const kind = kinds.find(({ storage, plural }) => storage.group === evaluator.group && plural === evaluator.plural);
      return kind === undefined ? [] : [list(kind, namespace, pass).then((objects) => ({ evaluator, objects }))];
    }),
  );
  const isTerminating = counted.some(({ objects }) => objects.some(({ metadata }) => metadata.deletionTimestamp !== undefined));
  return { used: listOf(usageOfAll(quota, counted, surroundings)), isTerminating };
}

async function list<T extends KubeObject>(kind: ResourceKind<T>, namespace: string, { write }: Pass): Promise<readonly T[]> {
  const all: T[] = [];
  for await (const { items } of write.pages(kind, kind.scope === "Cluster" ? {} : { namespace })) all.push(...items);
  return all;
}

async function surroundingsOf(namespace: string, pass: Pass): Promise<QuotaSurroundings> {
  const [classes, claims, all] = await Promise.all([
    list(deviceClasses, "", pass),
    list(resourceClaims, namespace, pass),
    list(pods, namespace, pass),
  ]);
  const byName = new Map(all.map((pod): [string, Pod] => [pod.metadata.name, pod]));
  return { nowMs: pass.clock.now(), deviceClasses: classes, claims, podOf: (name) => byName.get(name) };
}
