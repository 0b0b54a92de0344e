/**
 * A ResourceQuota shows how much of it is taken. Admission charges whoever writes; this counts what is there: when a quota is made or
 * changed, when something that it counts comes, goes or changes what it takes, and when somebody has written another status.
 *
 * What is counted is asked of the server after the quota was read, so it is at least as new as the quota; and it is written only if the
 * quota is still that one. So whatever was charged together with its object is in the count, or the write is refused and made again. What
 * was charged before its object (under several quotas) may be missed for a moment; the object itself wakes its quotas when it comes.
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

/** A namespace that is written to all the time is counted this often and no more: admission keeps the figures meanwhile. */
const COUNT_AGAIN_MS = 1_000;
/** Upstream's: what is going counts less once its time is over, and nothing tells when that is. */
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

/** Those of its namespace that have to do with its kind. */
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

/** An update can move an object into or out of the quota's scopes while it takes the same: activeDeadlineSeconds, a class of a claim. */
function changesScope({ object, previous }: Change, evaluator: QuotaEvaluator, quota: ResourceQuota): boolean {
  return previous !== undefined && isInAllScopes(evaluator, quota, object) !== isInAllScopes(evaluator, quota, previous);
}

function changesUsage({ is, object, previous }: Change, evaluator: QuotaEvaluator, surroundings: QuotaSurroundings): boolean {
  if (is !== "updated" || previous === undefined) return true;
  if (object.metadata.deletionTimestamp !== previous.metadata.deletionTimestamp) return true;
  return !areSameLists(listOf(evaluator.usageOf(object, surroundings)), listOf(evaluator.usageOf(previous, surroundings)));
}

function start({ clock, kinds }: ControllerContext): Reconcile {
  /** When a quota was last counted: forgotten, it is counted once more. */
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
    const { used, isGoing } = await count(quota, kinds(), pass);
    const status = { hard: quota.spec?.hard ?? {}, used };
    if (!areSameLists(status.hard, quota.status?.hard) || !areSameLists(status.used, quota.status?.used)) {
      await pass.write.updateStatus(resourceQuotas, { ...quota, status });
    }
    return isGoing ? after(RESYNC_MS) : onChange;
  };
}

interface Counted {
  readonly used: Readonly<Record<string, string>>;
  /** Whether something that is counted is going. */
  readonly isGoing: boolean;
}

async function count(quota: ResourceQuota, kinds: readonly ResourceKind[], pass: Pass): Promise<Counted> {
  const { namespace = "" } = quota.metadata;
  const surroundings = needsDeviceClasses(quota) ? await surroundingsOf(namespace, pass) : justNow(pass.clock.now());
  const counted = await Promise.all(
    evaluatorsOf(quota, surroundings).flatMap((evaluator) => {
      // One that nobody serves is not counted, and shows no amount.
      const kind = kinds.find(({ storage, plural }) => storage.group === evaluator.group && plural === evaluator.plural);
      return kind === undefined ? [] : [list(kind, namespace, pass).then((objects) => ({ evaluator, objects }))];
    }),
  );
  const isGoing = counted.some(({ objects }) => objects.some(({ metadata }) => metadata.deletionTimestamp !== undefined));
  return { used: listOf(usageOfAll(quota, counted, surroundings)), isGoing };
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
