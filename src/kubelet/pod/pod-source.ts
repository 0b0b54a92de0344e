/**
 * Where a kubelet hears of its Pods: those that are bound to its node. Alone it has an informer of them; of thousands of kubelets in one
 * process all share one informer of all Pods, of which each hears only its own.
 */
import type { Node, Pod } from "../../api/generated/core/v1.ts";
import { nodes } from "../../api/core/v1/node.ts";
import { pods } from "../../api/core/v1/pod.ts";
import { nodeOf, podsByNode } from "../../api/core/v1/pod/by-node.ts";
import type { Informer, InformerHandler, Informers } from "../../client/informer/informer.ts";

export interface PodSource {
  /** Resolves when all are known. */
  synced(signal: AbortSignal): Promise<void>;
  /** Those that are there, in the order of namespace and name. */
  list(): readonly Pod[];
  /** Those that are there are told first. One that is bound to another node, or unbound, was never told. */
  listen(handler: InformerHandler<Pod>): Disposable;
}

/** The Node as it is known here; undefined if it is not. */
export type NodeSource = () => Node | undefined;

/** For one kubelet: it asks for nothing but what is its own, as its rights demand. */
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

/** One informer of all Pods, and who hears of which. */
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
        // Bound just now: to its node it is new.
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
