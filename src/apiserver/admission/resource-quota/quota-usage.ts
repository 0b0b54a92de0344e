/**
 * Reads, recounts and writes the usage of a quota.
 *
 * A recount must not miss charges of objects that are not written yet. A charge committed together with its object cannot be missed: it
 * changes the quota, and the recount is written only if the quota is unchanged. A charge that precedes its object can be missed; so a
 * recount also writes the namespace's mark, and a charge in advance commits its object on condition that the mark is unchanged.
 *
 * Repeated rejections are cheap: recounted usage is cached until something changes.
 */
import type { Clock } from "../../../base/clock.ts";
import type { Random } from "../../../base/random.ts";
import type { Pod, ResourceQuota } from "../../../api/generated/core/v1.ts";
import type { DeviceClass, ResourceClaim } from "../../../api/generated/resource.k8s.io/v1.ts";
import { areSameLists, listOf, type Amounts } from "../../../api/core/v1/resource-quota/amounts.ts";
import { justNow, type QuotaEvaluator, type QuotaSurroundings } from "../../../api/core/v1/resource-quota/evaluator.ts";
import { evaluatorsOf, needsDeviceClasses, usageOfAll, type ObjectsOfKind } from "../../../api/core/v1/resource-quota/evaluators.ts";
import { trackUpdate } from "../../../api/machinery/apply/managed-fields.ts";
import type { KubeObject } from "../../../api/machinery/object.ts";
import { formatTime } from "../../../api/machinery/time.ts";
import { bookkeepingPrefix } from "../../../store/key.ts";
import type { Operation, Store } from "../../../store/store.ts";
import { bytesValue } from "../../../store/value.ts";
import type { AdmissionDependencies } from "../../framework/admission.ts";
import type { Causes } from "../../framework/recording/causes.ts";
import type { Endpoint, Endpoints } from "../../framework/endpoints.ts";
import type { KindName, Objects } from "../../framework/objects.ts";
import type { RequestContext } from "../../framework/request.ts";
import type { ObjectName } from "../../framework/storage/object-key.ts";
import { translated } from "../../framework/storage/store-failure.ts";
import { newUid } from "../../../base/uuid.ts";
import type { StoredObject } from "../../framework/storage/storage.ts";
import { SERVER } from "../../framework/own-requests.ts";
import { ignoredFields } from "../../framework/storage/ignored-fields.ts";

export const QUOTAS: KindName = { group: "", plural: "resourcequotas" };
const PODS: KindName = { group: "", plural: "pods" };
const CLAIMS: KindName = { group: "resource.k8s.io", plural: "resourceclaims" };
const DEVICE_CLASSES: KindName = { group: "resource.k8s.io", plural: "deviceclasses" };

/** Field manager of the status: upstream's name for the API server. */
const MANAGER = "kube-apiserver";

const MARKS = bookkeepingPrefix("quotamarks");
/** Longer than any request takes; afterwards no request can depend on an earlier mark. */
const MARK_MS = 600_000;

/** The revision at which a namespace was last marked. */
export type Mark = number;
const NO_MARK: Mark = 0;

/** Maximum conflicts before a charge is left in place; the next recount corrects it. */
const RECOUNT_ATTEMPTS_MAX = 16;

export interface CountedWrite {
  readonly alongside: readonly Operation[];
  readonly context: RequestContext;
}

/** All objects of a resource in a namespace, and the revision of the listing. */
interface CountedKind extends ObjectsOfKind {
  /** Revision of the resource; undefined if unknown. */
  readonly lastChange: number | undefined;
}

/** Cached usage with the conditions under which it is valid. */
interface Count {
  readonly used: Amounts;
  readonly lastChanges: readonly (readonly [kind: KindName, revision: number])[];
}

export class QuotaUsage {
  /** Keyed by the quota object: the entry of a changed or deleted quota is garbage-collected. */
  #counts = new WeakMap<ResourceQuota, Count>();
  readonly #endpoints: Endpoints;
  readonly #objects: Objects;
  readonly #store: Store;
  readonly #clock: Clock;
  readonly #random: Random;
  readonly #causes: Causes;

  constructor({
    endpoints,
    objects,
    store,
    clock,
    random,
    causes,
  }: Pick<AdmissionDependencies, "endpoints" | "objects" | "store" | "clock" | "random" | "causes">) {
    this.#causes = causes;
    this.#endpoints = endpoints;
    this.#objects = objects;
    this.#store = store;
    this.#clock = clock;
    this.#random = random;
    // Resources that were not served were not counted, and newly served ones have a new history.
    endpoints.onChange(() => (this.#counts = new WeakMap()));
  }

  /** At least as new as every acknowledged write. */
  async read(name: ObjectName): Promise<StoredObject | undefined> {
    return this.#quotas().storage.get(name);
  }

  /** Read before counting or charging in advance. */
  async readMark(namespace: string): Promise<Mark> {
    return (await translated(() => this.#store.get(MARKS + namespace)))?.revision ?? NO_MARK;
  }

  /** Committed with recounted usage, and with an object that was charged in advance. */
  markEntry(namespace: string, mark: Mark): Operation {
    const precondition = mark === NO_MARK ? ({ is: "absent" } as const) : ({ is: "at", revision: mark } as const);
    const value = bytesValue(new TextEncoder().encode(newUid(this.#random)));
    return { type: "put", key: MARKS + namespace, value, precondition, expiresAtMs: this.#clock.now() + MARK_MS };
  }

  /** Returns the usage of a quota that was read after the mark. */
  async count(quota: ResourceQuota): Promise<Amounts> {
    // Snapshot: if the served resources change meanwhile, the result is not cached.
    const counts = this.#counts;
    const known = counts.get(quota);
    if (known !== undefined && (await this.#isStillSo(known))) return known.used;
    const { namespace = "" } = quota.metadata;
    const surroundings = needsDeviceClasses(quota) ? await this.surroundings(namespace) : justNow(this.#clock.now());
    const served = evaluatorsOf(quota, surroundings).filter((evaluator) => this.#isStored(evaluator));
    const kinds = await Promise.all(
      served.map(async (evaluator): Promise<CountedKind> => {
        // Queried first, so that no write is missed in between; then the cache is new enough. Otherwise the store itself is read.
        const lastChange = await this.#objects.lastChange(evaluator);
        const list = lastChange === undefined ? this.#objects.listExact(evaluator, namespace) : this.#objects.list(evaluator, namespace);
        return { evaluator, lastChange, objects: await list };
      }),
    );
    const used = usageOfAll(quota, kinds, surroundings);
    const lastChanges = kinds.flatMap(({ evaluator, lastChange }) => (lastChange === undefined ? [] : [[evaluator, lastChange] as const]));
    if (lastChanges.length === kinds.length && !changesByItself(quota, kinds, surroundings.nowMs)) counts.set(quota, { used, lastChanges });
    return used;
  }

  async #isStillSo({ lastChanges }: Count): Promise<boolean> {
    const now = await Promise.all(lastChanges.map(([kind]) => this.#objects.lastChange(kind)));
    return lastChanges.every(([, revision], index) => now[index] === revision);
  }

  /** Device classes, needed to evaluate ResourceClaims. */
  async surroundings(namespace: string): Promise<QuotaSurroundings> {
    await this.#objects.load(PODS);
    return {
      nowMs: this.#clock.now(),
      deviceClasses: await this.#listed<DeviceClass>(DEVICE_CLASSES, ""),
      claims: await this.#listed<ResourceClaim>(CLAIMS, namespace),
      podOf: (name) => this.#objects.cached<Pod>(PODS, { namespace, name }),
    };
  }

  /** Returns the operation that writes this status, conditional on an unchanged quota. */
  entry(stored: StoredObject, used: Amounts): Operation {
    const { storage } = this.#quotas();
    return storage.putOperation(nameOf(stored), this.#next(stored, used), { is: "at", revision: stored.revision });
  }

  /** Returns the revision of the write; undefined on a conflict. `context`: of the request that is charged. */
  async write(stored: StoredObject, used: Amounts, { alongside, context }: CountedWrite): Promise<number | undefined> {
    const { storage } = this.#quotas();
    const name = nameOf(stored);
    const next = this.#next(stored, used);
    const { written } = await storage.update(name, next, stored, { signal: undefined, alongside });
    if (!written) return undefined;
    this.#causes.record({ storage, name, revision: next.revision, request: { verb: "update", subresource: "status", context } });
    return next.revision;
  }

  /** Recounts and writes the usage. False after too many conflicts. */
  async recount(name: ObjectName): Promise<boolean> {
    const cause = { controller: MANAGER, key: `${name.namespace}/${name.name}`, reason: "QuotaRecount" };
    const context = { user: SERVER, userAgent: MANAGER, cause, warn() {} };
    for (let attempt = 1; attempt <= RECOUNT_ATTEMPTS_MAX; attempt++) {
      const mark = await this.readMark(name.namespace);
      const stored = await this.read(name);
      if (stored === undefined) return true;
      const used = await this.count(quotaOf(stored));
      if (isWrittenDown(stored, used)) return true;
      if ((await this.write(stored, used, { alongside: [this.markEntry(name.namespace, mark)], context })) !== undefined) return true;
    }
    return false;
  }

  #next(stored: StoredObject, used: Amounts): StoredObject {
    const endpoint = this.#quotas();
    const previous = stored.object;
    const { spec, status } = quotaOf(stored);
    const next = { ...previous, status: { ...status, hard: spec?.hard ?? {}, used: listOf(used) } };
    const managed = trackUpdate({
      schema: endpoint.schema,
      previous: previous,
      previousManaged: stored.managed(),
      next: next,
      writer: { manager: MANAGER, apiVersion: endpoint.apiVersion, time: formatTime(this.#clock.now()), subresource: "status" },
      ignore: ignoredFields(endpoint, "status"),
    });
    return endpoint.storage.newObject(next, managed);
  }

  async #listed<T>(kind: KindName, namespace: string): Promise<readonly T[]> {
    return this.#isStored(kind) ? this.#objects.listExact<T>(kind, namespace) : [];
  }

  #isStored({ group, plural }: KindName): boolean {
    return this.#endpoints.stored(group, plural)?.resource.stored === true;
  }

  #quotas(): Endpoint {
    const endpoint = this.#endpoints.stored(QUOTAS.group, QUOTAS.plural);
    if (endpoint === undefined) throw new Error("Cannot charge a quota: ResourceQuotas are not served");
    return endpoint;
  }
}

export function quotaOf(stored: StoredObject): ResourceQuota {
  return stored.object as ResourceQuota;
}

/** True if the status already reports this usage. */
export function isWrittenDown(stored: StoredObject, used: Amounts): boolean {
  const { spec, status } = quotaOf(stored);
  return areSameLists(spec?.hard, status?.hard) && areSameLists(status?.used, listOf(used));
}

/** True if usage can change without a write to these resources. */
function changesByItself(quota: ResourceQuota, kinds: readonly ObjectsOfKind[], nowMs: number): boolean {
  // Usage of ResourceClaims depends on other resources.
  return (
    needsDeviceClasses(quota) || kinds.some(({ evaluator, objects }) => objects.some((object) => willCountLess(evaluator, object, nowMs)))
  );
}

/** Terminating objects that count until their grace period expires. */
function willCountLess(evaluator: QuotaEvaluator, object: KubeObject, nowMs: number): boolean {
  if (object.metadata.deletionTimestamp === undefined) return false;
  const [now, later] = [nowMs, Infinity].map((atMs) => listOf(evaluator.usageOf(object, justNow(atMs))));
  return !areSameLists(now, later);
}

function nameOf({ object: { metadata } }: StoredObject): ObjectName {
  return { namespace: metadata.namespace ?? "", name: metadata.name };
}
