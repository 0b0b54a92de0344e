/**
 * Feeds cluster events to cache and queue: nodes and assigned Pods to the cache, unassigned Pods to the queue, and whatever may help a
 * waiting Pod to the queue, after the cache has it.
 */
import { namespaces } from "../api/core/v1/namespace.ts";
import { nodes } from "../api/core/v1/node.ts";
import { pods } from "../api/core/v1/pod.ts";
import type { Pod } from "../api/generated/core/v1.ts";
import { Disposables } from "../base/disposables.ts";
import type { Informers } from "../client/informer/informer.ts";
import type { SchedulerCache } from "./cache/scheduler-cache.ts";
import { UNFINISHED } from "./cluster-view.ts";
import { feedObjectEvents } from "./events/object-events.ts";
import { NODE_ADDED, NODE_DELETED, nodeChanges } from "./events/node-changes.ts";
import { namespaceChanged, POD_ADDED, POD_DELETED, podChanges } from "./events/pod-changes.ts";
import { podInfoOf } from "./framework/make-pod-info.ts";
import type { SchedulingQueue } from "./queue/scheduling-queue.ts";

export interface ClusterEventsOptions {
  readonly informers: Informers;
  readonly cache: SchedulerCache;
  readonly queue: SchedulingQueue;
  /** Whether this scheduler is responsible for the Pod. */
  isOurs(pod: Pod): boolean;
  /** A decided, unbound Pod is terminating: its reservation is free. */
  onAssumedRemoved(pod: Pod): void;
}

/** Existing objects are delivered at once, nodes first. Ends on disposal. */
export function feedClusterEvents(options: ClusterEventsOptions): AsyncDisposable {
  const { informers, cache, queue } = options;
  const listening = new Disposables();
  listening.use(
    informers.of(nodes).listen({
      added(node) {
        cache.putNode(node);
        queue.moveAllOn({ of: "node", changes: NODE_ADDED, node });
      },
      updated(node, previous) {
        cache.putNode(node);
        const changes = nodeChanges(previous, node);
        if (changes.size > 0) queue.moveAllOn({ of: "node", changes, node, previous });
      },
      deleted(node) {
        cache.removeNode(node.metadata.name);
        queue.moveAllOn({ of: "node", changes: NODE_DELETED, node });
      },
    }),
  );
  const ofPods = new PodEvents(options);
  listening.use(
    informers.of(pods, UNFINISHED).listen({
      added: (pod) => ofPods.added(pod),
      updated: (pod, previous) => ofPods.updated(pod, previous),
      deleted: (pod) => ofPods.deleted(pod),
    }),
  );
  listening.use(
    informers.of(namespaces).listen({
      added: (namespace) => queue.moveAllOn({ of: "namespace", namespace }),
      updated(namespace, previous) {
        if (namespaceChanged(previous, namespace)) queue.moveAllOn({ of: "namespace", namespace, previous });
      },
      deleted() {},
    }),
  );
  listening.use(feedObjectEvents(informers, (event) => queue.moveAllOn(event)));
  return listening;
}

class PodEvents {
  readonly #options: ClusterEventsOptions;

  constructor(options: ClusterEventsOptions) {
    this.#options = options;
  }

  added(pod: Pod): void {
    const { queue, isOurs } = this.#options;
    if (isAssigned(pod)) this.#assigned(pod);
    else if (isOurs(pod)) queue.add(podInfoOf(pod));
  }

  updated(pod: Pod, previous: Pod): void {
    const { cache, queue, isOurs } = this.#options;
    if (isAssigned(previous)) return this.#changed(pod, previous);
    if (isAssigned(pod)) {
      this.#assigned(pod);
      if (isOurs(previous)) queue.delete(uidOf(previous));
      return;
    }
    if (!isOurs(pod)) return;
    if (cache.isAssumed(uidOf(pod))) {
      // Its decision stands, unless it is terminating.
      if (isTerminating(pod) && !isTerminating(previous)) this.#assumedRemoved(pod);
      return;
    }
    queue.update(podInfoOf(pod, podInfoOf(previous)));
    if (nominated(previous) !== "" && nominated(previous) !== nominated(pod)) this.#nominationGone(previous);
  }

  deleted(pod: Pod): void {
    const { cache, queue, isOurs } = this.#options;
    if (isOurs(pod)) queue.delete(uidOf(pod));
    if (isAssigned(pod)) {
      cache.removePod(uidOf(pod));
      queue.moveAllOn({ of: "assigned-pod", changes: POD_DELETED, pod });
    } else if (cache.isAssumed(uidOf(pod))) {
      this.#assumedRemoved(pod);
    } else if (nominated(pod) !== "") {
      this.#nominationGone(pod);
    }
  }

  #assigned(pod: Pod): void {
    const { cache, queue } = this.#options;
    cache.putPod(pod);
    queue.moveAllOn({ of: "assigned-pod", changes: POD_ADDED, pod });
  }

  #changed(pod: Pod, previous: Pod): void {
    const { cache, queue } = this.#options;
    cache.putPod(pod);
    const changes = podChanges(podInfoOf(previous), podInfoOf(pod, podInfoOf(previous)));
    if (changes.size > 0) queue.moveAllOn({ of: "assigned-pod", changes, pod, previous });
  }

  #assumedRemoved(pod: Pod): void {
    const { queue, cache, onAssumedRemoved } = this.#options;
    const assumed = cache.pod(uidOf(pod))?.info.pod ?? pod;
    onAssumedRemoved(pod);
    cache.forget(uidOf(pod));
    queue.moveAllOn({ of: "assigned-pod", changes: POD_DELETED, pod: assumed });
  }

  /** Other Pods of lower or equal priority counted it as if it were on that node. */
  #nominationGone(pod: Pod): void {
    const { priority, uid } = podInfoOf(pod);
    const event = { of: "assigned-pod", changes: POD_DELETED, pod } as const;
    this.#options.queue.moveAllOn(event, (waiting) => waiting.priority <= priority && waiting.uid !== uid);
  }
}

function isAssigned({ spec }: Pod): boolean {
  return (spec?.nodeName ?? "") !== "";
}

function isTerminating({ metadata }: Pod): boolean {
  return metadata.deletionTimestamp !== undefined;
}

function nominated({ status }: Pod): string {
  return status?.nominatedNodeName ?? "";
}

function uidOf({ metadata }: Pod): string {
  return metadata.uid ?? "";
}
