/**
 * The contract of a controller: one value with its watches, the mapping of changes to keys, its permissions, and how it reconciles one key.
 * The runtime owns everything else: informers, the queue, workers, retries, metrics, leader election, stopping. A controller's folder has
 * `<name>-controller.ts` (this value and the reconciliation) and its pure decisions beside it, each with tests.
 *
 * A reconciliation goes observe (`read`), plan (pure), act (`write`), report (status, only if it differs). Any notification may be lost,
 * duplicated or late, and the process may die between any two calls: the next reconciliation starts from current state. No controller may
 * depend on state that it keeps in memory.
 */
import type { PolicyRule } from "../../api/generated/rbac.authorization.k8s.io/v1.ts";
import type { KubeObject } from "../../api/machinery/object.ts";
import type { Clock } from "../../base/clock.ts";
import type { Logger } from "../../base/logger.ts";
import type { MetricSet } from "../../base/metrics/metric-set.ts";
import type { Random } from "../../base/random.ts";
import type { Client, ObjectKey, ResourceKind } from "../../client/client.ts";
import type { DiscoveredKind } from "../../client/discovery.ts";
import type { EventRecorder } from "../../client/events/event-recorder.ts";
import type { Reader } from "../../client/informer/informer.ts";

/** The subject of a reconciliation. `kind` is for controllers that handle several: "deployments.apps" (see kindName). */
export interface WorkKey extends ObjectKey {
  readonly kind?: string;
}

/** Done until something changes, or requeue after a delay. Failure is a thrown error: the runtime retries with backoff. */
export type Outcome = { readonly again: "on-change" } | { readonly again: "after"; readonly delayMs: number };

export const onChange: Outcome = { again: "on-change" };

/** Of several delays of one key the earliest counts, and a change is handled at once. */
export function after(delayMs: number): Outcome {
  return { again: "after", delayMs };
}

export interface Change<T extends KubeObject = KubeObject> {
  readonly is: "added" | "updated" | "deleted";
  readonly object: T;
  /** For "updated": the object delivered before. */
  readonly previous?: T;
}

/**
 * Maps a change to keys. Must not throw and must be fast: it is called for every change. At startup everything is delivered as added, so
 * that every relevant key is queued then, too.
 */
export type KeysOf<T extends KubeObject = KubeObject> = (change: Change<T>, read: Reader) => Iterable<WorkKey>;

export interface Watch<T extends KubeObject = KubeObject> {
  readonly kind: ResourceKind<T>;
  /** Declared as a method, so that a Watch<Pod> is a Watch. */
  keys(change: Change<T>, read: Reader): Iterable<WorkKey>;
  /** Counts the change itself, for metrics of what happens to objects. As fast as `keys`. */
  count?(change: Change<T>, metrics: MetricSet): void;
  /**
   * How long changes are collected before they queue this key, for keys whose reconciliation costs far more than one change is worth. As fast as
   * `keys`. Default: 0, at once.
   */
  delayMs?(key: WorkKey, read: Reader): number;
}

/** Everything that can be listed, watched and deleted, also kinds that are added and removed while the controller runs. */
export interface WatchOfEveryKind {
  readonly everyKind: true;
  keys(change: Change, read: Reader, kind: ResourceKind): Iterable<WorkKey>;
}

/** `watches: [watch(replicaSets, itself), watch(pods, itsController(replicaSets))]`. */
export function watch<T extends KubeObject>(
  kind: ResourceKind<T>,
  keys: KeysOf<T>,
  options: Pick<Watch<T>, "count" | "delayMs"> = {},
): Watch<T> {
  return { kind, keys, ...options };
}

export function watchEveryKind(keys: WatchOfEveryKind["keys"]): WatchOfEveryKind {
  return { everyKind: true, keys };
}

export interface ControllerContext {
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Logger;
  /**
   * Shows the watched kinds; before the first reconciliation all that are watched by name are synced. With all kinds, one that cannot be
   * listed is not: check `read.knows` before relying on absence. Shows own writes at once.
   */
  readonly read: Reader;
  /** For a controller of all kinds: what can be listed and deleted now. Of those, `read` shows what isFollowed (all-kinds.ts). */
  kinds(): readonly DiscoveredKind[];
  /**
   * Queues a key without a change that triggered it, such as by a timer of the controller. Within a reconciliation use its own `wake`,
   * which carries the cause.
   */
  wake(key: WorkKey): void;
}

/** Arguments of one reconciliation. */
export interface Pass {
  readonly read: Reader;
  /**
   * Under the controller's own identity, with the cause of this reconciliation on every write. Reads through it are live and cost a
   * request.
   */
  readonly write: Client;
  readonly events: EventRecorder;
  readonly clock: Clock;
  readonly random: Random;
  /** Carries the controller's name and the key. */
  readonly log: Logger;
  /** Metrics of the controller, besides those of its queue, which the runtime counts. */
  readonly metrics: MetricSet;
  /** Aborted when the controller must stop. `write` is cancelled by itself. */
  readonly signal: AbortSignal;
  /** Queues another key; its reconciliation has the trigger of this one. */
  wake(key: WorkKey): void;
}

export type Reconcile = (key: WorkKey, pass: Pass) => Promise<Outcome>;

export interface Controller {
  /** Upstream's name for --controllers: "replicaset-controller". */
  readonly name: string;
  /** Deprecated names that upstream still accepts: "replicaset". */
  readonly aliases?: readonly string[];
  /** Its service account in kube-system, as upstream's: "replicaset-controller"; or the user of the controller manager. */
  readonly account: string;
  /** Component name of its events. Default: the account, as with most of upstream's. */
  readonly component?: string;
  /**
   * Permissions besides those for its watches: watching is done once for all controllers, under the identity of the controller manager. A
   * program with one identity for both includes `list` and `watch` here, too. Tests enforce them, and check that upstream's role
   * `system:controller:<account>` covers them.
   */
  readonly rules: readonly PolicyRule[];
  readonly watches: readonly (Watch | WatchOfEveryKind)[];
  /** Number of concurrent reconciliations. Default: 5, as upstream. */
  readonly concurrency?: number;
  /** Started only if named in --controllers, not by "*". Upstream has such (bootstrap-signer-controller). */
  readonly onlyIfNamed?: true;
  /**
   * Called once per start. State that the returned function keeps between reconciliations may be lost at any time and must not be required
   * for correctness.
   */
  start(context: ControllerContext): Reconcile;
}

/** Either one function, or a factory called at each start, if it keeps state between reconciliations. */
export type ControllerDefinition = Omit<Controller, "start"> &
  ({ readonly reconcile: Reconcile } | { readonly start: Controller["start"] });

export function defineController(definition: ControllerDefinition): Controller {
  const { start = () => (definition as { reconcile: Reconcile }).reconcile } = definition as Partial<Controller>;
  return Object.freeze({ ...definition, start });
}
