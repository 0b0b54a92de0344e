/**
 * Garbage collection of dependents of any kind; foreground deletion, which keeps an owner until its dependents are deleted; orphaning,
 * which removes the references of dependents. A reconciliation concerns one object and needs only current state:
 * - all of its owners are deleted, or wait for it: it is deleted;
 * - some owner stays: dangling references are removed;
 * - it waits for its dependents and none blocks it any more: its finalizer is removed. Objects that wait for each other in a cycle would
 *   wait forever, so that one that is in a cycle no longer blocks its owners;
 * - it orphans its dependents: their references are removed, then its finalizer. An object that waits or orphans also waits while a kind
 *   cannot be listed: it may have dependents of that kind. Upstream lets it proceed, and what was to be orphaned is deleted when the kind
 *   can be listed again. So does this collector for kinds of aggregated API servers, since a broken one must not stop the cluster's
 *   deletions. Where upstream maintains a graph of everything, here are the indexes of the informers.
 */
import { apiServices } from "../../api/apiregistration.k8s.io/v1/api-service.ts";
import { isReason } from "../../api/machinery/status-error.ts";
import type { ResourceKind } from "../../client/client.ts";
import { defineController, onChange, type ControllerContext, type Outcome, type Pass, type WorkKey } from "../runtime/controller.ts";
import { keyText, kindName } from "../runtime/keys.ts";
import { inTurns } from "../runtime/concurrent-writes.ts";
import { collectorKeys, objectKey, targetOf, type Target } from "./collector-keys.ts";
import { deleteObject, patchReferences, removeFinalizer } from "./collector-writes.ts";
import { Dependents, type Dependent } from "./dependents.ts";
import { KindTable } from "./kind-table.ts";
import { Owners } from "./owners.ts";
import {
  FOREGROUND_FINALIZER,
  hasFinalizer,
  isTerminating,
  isWaitingForDependents,
  ORPHAN_FINALIZER,
  ownersOf,
  propagationOf,
  uidOf,
  withoutBlocking,
  withoutOwners,
} from "./ownership.ts";

/** As upstream: most reconciliations wait for the server. */
const CONCURRENCY = 20;

export const garbageCollectorController = defineController({
  name: "garbage-collector-controller",
  aliases: ["garbagecollector"],
  account: "generic-garbage-collector",
  component: "garbage-collector-controller",
  rules: [
    { apiGroups: ["*"], resources: ["*"], verbs: ["get", "list", "watch", "patch", "delete"] },
    { apiGroups: ["", "events.k8s.io"], resources: ["events"], verbs: ["create", "patch", "update"] },
  ],
  watches: [{ everyKind: true, keys: (change, _read, kind) => collectorKeys(change, kind) }],
  concurrency: CONCURRENCY,
  start(context) {
    const collector = new Collector(context);
    return (key, pass) => collector.look(key, pass);
  },
});

class Collector {
  readonly #context: ControllerContext;
  readonly #kinds: KindTable;
  readonly #dependents: Dependents;
  readonly #owners: Owners;

  constructor(context: ControllerContext) {
    const { read } = context;
    this.#context = context;
    this.#kinds = new KindTable(context);
    this.#dependents = new Dependents({ read, kinds: this.#kinds });
    this.#owners = new Owners({ read, kinds: this.#kinds });
  }

  async look(key: WorkKey, pass: Pass): Promise<Outcome> {
    const target = targetOf(key);
    if (target.is === "object") await this.#lookAtObject(target.kind, key, pass);
    else if (target.is === "dependents") this.#wakeDependents(target.ownerUid, pass);
    else this.#wakeOwner(target, key, pass);
    return onChange;
  }

  async #lookAtObject(name: string, key: WorkKey, pass: Pass): Promise<void> {
    const kind = this.#kinds.named(name);
    const object = kind === undefined ? undefined : pass.read.get(kind, key);
    if (kind === undefined || object === undefined) return;
    const item = { kind, object };
    if (!isTerminating(object)) await this.#deleteIfAbandoned(item, pass);
    else if (hasFinalizer(object, ORPHAN_FINALIZER)) await this.#leaveOrphans(item, pass);
    else if (hasFinalizer(object, FOREGROUND_FINALIZER)) await this.#goIfAlone(item, pass);
  }

  async #deleteIfAbandoned({ kind, object }: Dependent, pass: Pass): Promise<void> {
    if (ownersOf(object).length === 0) return;
    const verdict = await this.#owners.judge(object, pass);
    if (verdict === undefined) return;
    const { solid, dangling, waiting } = verdict;
    const { write, log } = pass;
    if (solid.length > 0) {
      // A waiting one would wait forever for what others keep.
      const lost = new Set([...dangling, ...waiting].map(({ uid }) => uid));
      if (lost.size > 0) await patchReferences(write, { kind, object }, withoutOwners(object, lost));
      return;
    }
    const isOwner = waiting.length > 0 && this.#dependents.mayHaveAny(uidOf(object));
    log.debug("Deleting an object without a remaining owner", { propagation: isOwner ? "Foreground" : propagationOf(object) });
    if (!isOwner) return deleteObject(write, { kind, object }, propagationOf(object));
    // Its waiting owners also wait for its dependents.
    const latest = this.#owners.waitsForItself(object) ? await patchReferences(write, { kind, object }, withoutBlocking(object)) : object;
    await deleteObject(write, { kind, object: latest }, "Foreground");
  }

  async #goIfAlone(item: Dependent, { write }: Pass): Promise<void> {
    if (!this.#dependents.hasBlocking(uidOf(item.object))) return this.#letGo(item, FOREGROUND_FINALIZER, write);
    // Its dependents are reconciled on their own, and the last deletion triggers it.
    if (this.#owners.waitsForItself(item.object)) await patchReferences(write, item, withoutBlocking(item.object));
  }

  async #leaveOrphans(item: Dependent, { write }: Pass): Promise<void> {
    const owner = uidOf(item.object);
    await inTurns([...this.#dependents.of(owner)], (dependent) => forgetOwner(dependent, owner, write));
    await this.#letGo(item, ORPHAN_FINALIZER, write);
  }

  /** Rejects if it may have dependents that cannot be seen, so that it is retried. */
  async #letGo(item: Dependent, finalizer: string, write: Pass["write"]): Promise<void> {
    const unknown = this.#dependents.unknownKinds.filter((kind) => !this.#isAggregated(kind));
    if (unknown.length > 0) {
      const kinds = unknown.map(kindName).join(", ");
      throw new Error(`Cannot take ${finalizer} off ${keyText(objectKey(item.kind, item.object))}: what it owns of ${kinds} is not known`);
    }
    await removeFinalizer(write, item, finalizer);
  }

  #isAggregated({ storage: { group, version } }: ResourceKind): boolean {
    const { read } = this.#context;
    return read.knows(apiServices) && read.get(apiServices, { name: `${version}.${group}` })?.spec?.service !== undefined;
  }

  #wakeDependents(ownerUid: string, { wake }: Pass): void {
    for (const { kind, object } of this.#dependents.of(ownerUid)) wake(objectKey(kind, object));
  }

  #wakeOwner(target: Extract<Target, { is: "owner" }>, { namespace, name }: WorkKey, { wake }: Pass): void {
    const kind = this.#kinds.followedAs(target);
    if (kind === undefined) return;
    const owner = this.#context.read.get(kind, kind.scope === "Cluster" ? { name } : { namespace, name });
    if (owner !== undefined && isWaitingForDependents(owner)) wake(objectKey(kind, owner));
  }
}

async function forgetOwner(dependent: Dependent, ownerUid: string, write: Pass["write"]): Promise<void> {
  try {
    await patchReferences(write, dependent, withoutOwners(dependent.object, new Set([ownerUid])));
  } catch (error) {
    if (!isReason(error, "NotFound")) throw error;
  }
}
