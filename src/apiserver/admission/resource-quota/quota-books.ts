/**
 * Reading, counting and writing how much of a quota is taken.
 *
 * What is counted must not miss what others have charged and not written yet. A charge that is one commit with its object cannot be
 * missed: it changes the quota, and the count is written only if nobody did. A charge that comes before its object can; so whoever counts
 * also writes the namespace's mark, and whoever charges in advance commits its object on the condition that the mark is as it was before.
 *
 * Who is refused again and again costs no more than being told so: what was counted is remembered until something changes.
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
import type { Causes } from "../../framework/causes.ts";
import type { Endpoint, Endpoints } from "../../framework/endpoints.ts";
import type { KindName, Objects } from "../../framework/objects.ts";
import type { RequestContext } from "../../framework/request.ts";
import type { ObjectName } from "../../framework/storage/object-key.ts";
import { translated } from "../../framework/storage/store-failure.ts";
import { newUid } from "../../framework/storage/identifiers.ts";
import type { StoredObject } from "../../framework/storage/storage.ts";
import { SERVER } from "../../framework/own-requests.ts";
import { ignoredFields } from "../../framework/storage/ignored-fields.ts";

export const QUOTAS: KindName = { group: "", plural: "resourcequotas" };
const PODS: KindName = { group: "", plural: "pods" };
const CLAIMS: KindName = { group: "resource.k8s.io", plural: "resourceclaims" };
const DEVICE_CLASSES: KindName = { group: "resource.k8s.io", plural: "deviceclasses" };

/** Whom the status belongs to: upstream's name for the API server. */
const MANAGER = "kube-apiserver";

const MARKS = bookkeepingPrefix("quotamarks");
/** Longer than any request takes; afterwards nobody can remember that it was another one before. */
const MARK_MS = 600_000;

/** The revision at which a namespace was last marked. */
export type Mark = number;
const NO_MARK: Mark = 0;

/** Others that may be first, one after the other, before a charge is left as it is: the next count puts it right. */
const RECOUNT_ATTEMPTS_MAX = 16;

export interface CountedWrite {
  readonly alongside: readonly Operation[];
  readonly context: RequestContext;
}

/** All objects of a kind in a namespace, and since when they are all. */
interface CountedKind extends ObjectsOfKind {
  /** Of the kind; undefined: nobody can tell. */
  readonly lastChange: number | undefined;
}

/** What was counted, and what holds as long as it is true. */
interface Count {
  readonly used: Amounts;
  readonly lastChanges: readonly (readonly [kind: KindName, revision: number])[];
}

export class QuotaBooks {
  /** By the quota as it is: one that is changed or gone is forgotten by itself. */
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
    // What nobody served was not counted, and what is served anew has a history of its own.
    endpoints.onChange(() => (this.#counts = new WeakMap()));
  }

  /** At least as new as every write that was answered. */
  read(name: ObjectName): Promise<StoredObject | undefined> {
    return this.#quotas().storage.get(name);
  }

  /** Read before counting or charging in advance. */
  async readMark(namespace: string): Promise<Mark> {
    return (await translated(() => this.#store.get(MARKS + namespace)))?.revision ?? NO_MARK;
  }

  /** Committed with what was counted, and with the object for which was charged in advance. */
  markEntry(namespace: string, mark: Mark): Operation {
    const precondition = mark === NO_MARK ? ({ is: "absent" } as const) : ({ is: "at", revision: mark } as const);
    const value = bytesValue(new TextEncoder().encode(newUid(this.#random)));
    return { type: "put", key: MARKS + namespace, value, precondition, expiresAtMs: this.#clock.now() + MARK_MS };
  }

  /** How much is taken of a quota that was read after the mark. */
  async count(quota: ResourceQuota): Promise<Amounts> {
    // Those of now: if what is served changes meanwhile, what is counted here is not remembered.
    const counts = this.#counts;
    const known = counts.get(quota);
    if (known !== undefined && (await this.#isStillSo(known))) return known.used;
    const { namespace = "" } = quota.metadata;
    const surroundings = needsDeviceClasses(quota) ? await this.surroundings(namespace) : justNow(this.#clock.now());
    const served = evaluatorsOf(quota, surroundings).filter((evaluator) => this.#isStored(evaluator));
    const kinds = await Promise.all(
      served.map(async (evaluator): Promise<CountedKind> => {
        // Asked first, so that nothing can be missed between them; and then memory is new enough. Else the store itself must tell.
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

  /** What claims of devices are judged by. */
  async surroundings(namespace: string): Promise<QuotaSurroundings> {
    await this.#objects.load(PODS);
    return {
      nowMs: this.#clock.now(),
      deviceClasses: await this.#listed<DeviceClass>(DEVICE_CLASSES, ""),
      claims: await this.#listed<ResourceClaim>(CLAIMS, namespace),
      podOf: (name) => this.#objects.cached<Pod>(PODS, { namespace, name }),
    };
  }

  /** The operation that makes it so, if the quota is still what it was. */
  entry(stored: StoredObject, used: Amounts): Operation {
    const { storage } = this.#quotas();
    return storage.putOperation(nameOf(stored), this.#next(stored, used), { is: "at", revision: stored.revision });
  }

  /** The revision of the write; undefined: another writer was first. `context`: of the request that is charged. */
  async write(stored: StoredObject, used: Amounts, { alongside, context }: CountedWrite): Promise<number | undefined> {
    const { storage } = this.#quotas();
    const name = nameOf(stored);
    const next = this.#next(stored, used);
    const { written } = await storage.update(name, next, stored, { signal: undefined, alongside });
    if (!written) return undefined;
    this.#causes.record({ resource: QUOTAS, name, revision: next.revision, request: { verb: "update", subresource: "status", context } });
    return next.revision;
  }

  /** Counts anew and writes it down. False: others were always first. */
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

/** Whether the status says this already. */
export function isWrittenDown(stored: StoredObject, used: Amounts): boolean {
  const { spec, status } = quotaOf(stored);
  return areSameLists(spec?.hard, status?.hard) && areSameLists(status?.used, listOf(used));
}

/** Whether what is taken can become another amount while nothing of these kinds is written. */
function changesByItself(quota: ResourceQuota, kinds: readonly ObjectsOfKind[], nowMs: number): boolean {
  // What devices count as depends on other kinds.
  return (
    needsDeviceClasses(quota) || kinds.some(({ evaluator, objects }) => objects.some((object) => willCountLess(evaluator, object, nowMs)))
  );
}

/** What is going, and counts until its time is over. */
function willCountLess(evaluator: QuotaEvaluator, object: KubeObject, nowMs: number): boolean {
  if (object.metadata.deletionTimestamp === undefined) return false;
  const [now, later] = [nowMs, Infinity].map((atMs) => listOf(evaluator.usageOf(object, justNow(atMs))));
  return !areSameLists(now, later);
}

function nameOf({ object: { metadata } }: StoredObject): ObjectName {
  return { namespace: metadata.namespace ?? "", name: metadata.name };
}
