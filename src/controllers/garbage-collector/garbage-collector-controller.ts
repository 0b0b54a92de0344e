/**
 * Deletes what has lost its owners, of any kind; keeps an owner that is deleted in the foreground until what it owns is gone; lets what an
 * owner leaves behind as orphans forget it. A pass is about one object and needs nothing but what there is now:
 * - all of its owners are gone, or wait for it: it is deleted;
 * - some owner stays: references to those that do not are taken away;
 * - it waits for its dependents and none holds it back any more: its finalizer goes. Objects that wait for each other in a circle would
 *   wait for ever, so whoever finds itself in one no longer holds back its owners;
 * - it is to leave orphans: its dependents are told, then its finalizer goes.
 * Whoever waits for its dependents or is to leave orphans also waits while a kind cannot be listed: of that kind it may have some. Upstream
 * lets it go, and what it was to leave behind is deleted when the kind can be listed again.
 * Where upstream keeps a graph of everything in step with what it hears, here are the indexes of the informers.
 */
import { isReason } from "../../api/machinery/status-error.ts";
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
  isGoing,
  isWaitingForDependents,
  ORPHAN_FINALIZER,
  ownersOf,
  propagationOf,
  uidOf,
  withoutBlocking,
  withoutOwners,
} from "./ownership.ts";

/** As upstream: most passes wait for the server. */
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
    if (!isGoing(object)) await this.#deleteIfAbandoned(item, pass);
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
      // One that waits would wait for ever for what others keep.
      const lost = new Set([...dangling, ...waiting].map(({ uid }) => uid));
      if (lost.size > 0) await patchReferences(write, { kind, object }, withoutOwners(object, lost));
      return;
    }
    const isOwner = waiting.length > 0 && this.#dependents.mayHaveAny(uidOf(object));
    log.debug("Deleting what has no owner that stays", { propagation: isOwner ? "Foreground" : propagationOf(object) });
    if (!isOwner) return deleteObject(write, { kind, object }, propagationOf(object));
    // Whoever waits for it waits for what it owns, too.
    const latest = this.#owners.waitsForItself(object) ? await patchReferences(write, { kind, object }, withoutBlocking(object)) : object;
    await deleteObject(write, { kind, object: latest }, "Foreground");
  }

  async #goIfAlone(item: Dependent, { write }: Pass): Promise<void> {
    if (!this.#dependents.hasBlocking(uidOf(item.object))) return this.#letGo(item, FOREGROUND_FINALIZER, write);
    // Its dependents are looked at on their own, and the last of them to go wakes it.
    if (this.#owners.waitsForItself(item.object)) await patchReferences(write, item, withoutBlocking(item.object));
  }

  async #leaveOrphans(item: Dependent, { write }: Pass): Promise<void> {
    const owner = uidOf(item.object);
    await inTurns([...this.#dependents.of(owner)], (dependent) => forgetOwner(dependent, owner, write));
    await this.#letGo(item, ORPHAN_FINALIZER, write);
  }

  /** Rejects if it may have dependents that nobody can see, so that it is tried again. */
  async #letGo(item: Dependent, finalizer: string, write: Pass["write"]): Promise<void> {
    const unknown = this.#dependents.unknownKinds;
    if (unknown.length > 0) {
      const kinds = unknown.map(kindName).join(", ");
      throw new Error(`Cannot take ${finalizer} off ${keyText(objectKey(item.kind, item.object))}: what it owns of ${kinds} is not known`);
    }
    await removeFinalizer(write, item, finalizer);
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
