/**
 * Source of the Pods that are bound to a node. A single kubelet has its own informer; thousands of kubelets in one process share one
 * informer of all Pods, which notifies each of its own Pods only.
 */
import type { Node, Pod } from "../../api/generated/core/v1.ts";
import { nodes } from "../../api/core/v1/node.ts";
import { pods } from "../../api/core/v1/pod.ts";
import { nodeOf, podsByNode } from "../../api/core/v1/pod/by-node.ts";
import type { Informer, InformerHandler, Informers } from "../../client/informer/informer.ts";

export interface PodSource {
  /** Resolves when the initial list is complete. */
  synced(signal: AbortSignal): Promise<void>;
  /** Known Pods, ordered by namespace and name. */
  list(): readonly Pod[];
  /** Notifies of existing Pods first. Pods of other nodes and unbound ones are never reported. */
  listen(handler: InformerHandler<Pod>): Disposable;
}

/** The Node from the informer; undefined if it is not known. */
export type NodeSource = () => Node | undefined;

/** For one kubelet: lists only its own Pods, as its permissions demand. */
export function ownPods(informers: Informers, nodeName: string): PodSource {
  const informer = informers.of(pods, { fieldSelector: `spec.nodeName=${nodeName}` });
  return {
    synced: (signal) => informer.synced(signal),
    list: () => informer.list(),
    listen: (handler) => informer.listen(handler),
  };
}

export function ownNode(informers: Informers, nodeName: string): NodeSource {
  const informer = informers.of(nodes, { fieldSelector: `metadata.name=${nodeName}` });
  return () => informer.get({ name: nodeName });
}

/** Distributes the notifications of one informer of all Pods. */
export class SharedPods implements Disposable {
  readonly #informer: Informer<Pod>;
  readonly #handlers = new Map<string, InformerHandler<Pod>>();
  readonly #listening: Disposable;

  constructor(informers: Informers) {
    this.#informer = informers.of(pods);
    this.#listening = this.#informer.listen({
      added: (pod) => this.#handlers.get(nodeOf(pod))?.added(pod),
      updated: (pod, previous) => {
        const handler = this.#handlers.get(nodeOf(pod));
        // Just bound: new to its node.
        if (nodeOf(previous) === nodeOf(pod)) handler?.updated(pod, previous);
        else handler?.added(pod);
      },
      deleted: (pod) => this.#handlers.get(nodeOf(pod))?.deleted(pod),
    });
  }

  /** One listener per node: a node has one kubelet. */
  of(nodeName: string): PodSource {
    return {
      synced: (signal) => this.#informer.synced(signal),
      list: () => this.#informer.indexed(podsByNode, nodeName),
      listen: (handler) => {
        for (const pod of this.#informer.indexed(podsByNode, nodeName)) handler.added(pod);
        this.#handlers.set(nodeName, handler);
        return {
          [Symbol.dispose]: () => {
            if (this.#handlers.get(nodeName) === handler) this.#handlers.delete(nodeName);
          },
        };
      },
    };
  }

  [Symbol.dispose](): void {
    this.#listening[Symbol.dispose]();
  }
}
