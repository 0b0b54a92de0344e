/**
 * The shape of a controller: one value that says what it watches, which keys a change wakes, what it may do, and how it looks at one key.
 * The runtime owns everything else: informers, the queue, workers, retries, metrics, leader election, stopping. A controller's folder has
 * `<name>-controller.ts` (this value and the pass) and its pure decisions beside it, each with tests.
 *
 * A pass goes observe (`read`), plan (pure), act (`write`), report (status, only if it differs). Any message may be lost, doubled or late,
 * and the process may die between any two calls: the next pass starts from what is. Nothing that a controller remembers may be needed.
 */
import type { PolicyRule } from "../../api/generated/rbac.authorization.k8s.io/v1.ts";
import type { KubeObject } from "../../api/machinery/object.ts";
import type { Clock } from "../../base/clock.ts";
import type { Logger } from "../../base/logger.ts";
import type { Random } from "../../base/random.ts";
import type { Client, ObjectKey, ResourceKind } from "../../client/client.ts";
import type { DiscoveredKind } from "../../client/discovery.ts";
import type { EventRecorder } from "../../client/events/event-recorder.ts";
import type { Reader } from "../../client/informer/informer.ts";

/** What a pass is about. `kind` is for controllers that look after several: "deployments.apps" (see kindName). */
export interface WorkKey extends ObjectKey {
  readonly kind?: string;
}

/** Done until something changes, or look again after a while. Failure is a thrown error: the runtime tries again, later each time. */
export type Outcome = { readonly again: "on-change" } | { readonly again: "after"; readonly delayMs: number };

export const onChange: Outcome = { again: "on-change" };

/** Of several delays of one key the earliest counts, and a change comes in between at once. */
export function after(delayMs: number): Outcome {
  return { again: "after", delayMs };
}

export interface Change<T extends KubeObject = KubeObject> {
  readonly is: "added" | "updated" | "deleted";
  readonly object: T;
  /** Of "updated": what was told last. */
  readonly previous?: T;
}

/**
 * Which keys are to be looked at when an object changes. Must not throw and must be quick: it is called for every change. On a start
 * everything is told as added, so a key that matters is woken then, too.
 */
export type KeysOf<T extends KubeObject = KubeObject> = (change: Change<T>, read: Reader) => Iterable<WorkKey>;

export interface Watch<T extends KubeObject = KubeObject> {
  readonly kind: ResourceKind<T>;
  /** Written as a method, so that a Watch<Pod> is a Watch. */
  keys(change: Change<T>, read: Reader): Iterable<WorkKey>;
}

/** Everything that can be listed, watched and deleted, also kinds that come and go while the controller runs. */
export interface WatchOfEveryKind {
  readonly everyKind: true;
  keys(change: Change, read: Reader, kind: ResourceKind): Iterable<WorkKey>;
}

/** `watches: [watch(replicaSets, itself), watch(pods, itsController(replicaSets))]`. */
export function watch<T extends KubeObject>(kind: ResourceKind<T>, keys: KeysOf<T>): Watch<T> {
  return { kind, keys };
}

export function watchEveryKind(keys: WatchOfEveryKind["keys"]): WatchOfEveryKind {
  return { everyKind: true, keys };
}

export interface ControllerContext {
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Logger;
  /**
   * Shows the watched kinds; before the first pass all that are watched by name are known. Of every kind one that cannot be listed is not:
   * see `read.knows` before taking silence for an answer. Shows what `write` has written at once.
   */
  readonly read: Reader;
  /** Of a controller that watches every kind: what can be listed and deleted now. Of those, `read` shows what isFollowed (all-kinds.ts). */
  kinds(): readonly DiscoveredKind[];
  /**
   * Adds a key to the work queue without a change that triggered it, such as a timer of the controller's own. Within a pass use the pass's
   * `wake`, which names the cause.
   */
  wake(key: WorkKey): void;
}

/** What one pass is given. */
export interface Pass {
  readonly read: Reader;
  /** Under the controller's own identity, with the cause of this pass on every write. Reads through it are fresh and cost a request. */
  readonly write: Client;
  readonly events: EventRecorder;
  readonly clock: Clock;
  readonly random: Random;
  /** Carries the controller's name and the key. */
  readonly log: Logger;
  /** Aborted when the controller must stop. `write` gives up by itself. */
  readonly signal: AbortSignal;
  /** Adds another key to the work queue; its pass has the trigger of this one. */
  wake(key: WorkKey): void;
}

export type Reconcile = (key: WorkKey, pass: Pass) => Promise<Outcome>;

export interface Controller {
  /** Upstream's name for --controllers: "replicaset-controller". */
  readonly name: string;
  /** Names that upstream had before and still takes: "replicaset". */
  readonly aliases?: readonly string[];
  /** The service account in kube-system under which it acts, as upstream's: "replicaset-controller". */
  readonly account: string;
  /** Whom its events come from. Default: the account, as with most of upstream's. */
  readonly component?: string;
  /**
   * What it must be allowed beyond following what it watches: that is done once for all, under the identity of the controller manager. A
   * program that has one identity for both names `list` and `watch` here, too.
   * Tests hold it to them, and hold upstream's role `system:controller:<account>` to cover them.
   */
  readonly rules: readonly PolicyRule[];
  readonly watches: readonly (Watch | WatchOfEveryKind)[];
  /** How many keys it looks at side by side. Default: 5, as upstream. */
  readonly concurrency?: number;
  /** Started only if it is named in --controllers, not by "*". Upstream has such (bootstrap-signer-controller). */
  readonly onlyIfNamed?: true;
  /** Called once per start. What the returned function remembers between passes may be lost at any time and is never needed to be right. */
  start(context: ControllerContext): Reconcile;
}

/** A controller is either one function, or is made at each start, if it remembers something between passes. */
export type ControllerDefinition = Omit<Controller, "start"> &
  ({ readonly reconcile: Reconcile } | { readonly start: Controller["start"] });

export function defineController(definition: ControllerDefinition): Controller {
  const { start = () => (definition as { reconcile: Reconcile }).reconcile } = definition as Partial<Controller>;
  return Object.freeze({ ...definition, start });
}
