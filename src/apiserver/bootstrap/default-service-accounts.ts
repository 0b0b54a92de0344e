/**
 * Every namespace has a ServiceAccount "default": it is made when the namespace is, and again when somebody deletes it. Upstream's
 * controller of service accounts does the same in another process; here the API server does, under that controller's name, so that pods
 * can be made in a new namespace at once. Told by the caches, so nothing is looked at while nothing happens.
 */
import type { Clock } from "../../base/clock.ts";
import type { Logger } from "../../base/logger.ts";
import type { Namespace } from "../../api/generated/core/v1.ts";
import type { KubeObject } from "../../api/machinery/object.ts";
import { isReason, isStatusError } from "../../api/machinery/status-error.ts";
import type { Transport } from "../../api/machinery/transport.ts";
import type { Objects } from "../objects.ts";
import { LoopQueue } from "./loop-queue.ts";

const NAMESPACES = { group: "", plural: "namespaces" };
const SERVICE_ACCOUNTS = { group: "", plural: "serviceaccounts" };
const NAME = "default";

export interface DefaultServiceAccountsOptions {
  readonly objects: Objects;
  /** Of upstream's controller for it. */
  readonly transport: Transport;
  readonly clock: Clock;
  readonly log: Logger;
}

export class DefaultServiceAccounts {
  readonly #options: DefaultServiceAccountsOptions;
  /** Names of namespaces that may lack theirs. */
  readonly #queue: LoopQueue;
  /** Those there are. */
  readonly #namespaces = new Set<string>();

  constructor(options: DefaultServiceAccountsOptions) {
    this.#options = options;
    const failure = "The default service account of a namespace could not be made";
    this.#queue = new LoopQueue({ ...options, failure, work: (namespace) => this.#makeIn(namespace).then(() => true) });
  }

  /** Resolves when it knows what is there; what is missing is made right after. */
  async start(): Promise<void> {
    const { objects } = this.#options;
    // Accounts first: whoever looks at a namespace must know which there are.
    await objects.follow(SERVICE_ACCOUNTS, {
      put() {},
      gone: ({ metadata }) => this.#queue.add(metadata.namespace ?? ""),
      // One may have gone unseen.
      reset: () => this.#namespaces.forEach((name) => this.#queue.add(name)),
    });
    await objects.follow(NAMESPACES, {
      put: ({ metadata }) => {
        this.#namespaces.add(metadata.name);
        this.#queue.add(metadata.name);
      },
      gone: ({ metadata }) => this.#namespaces.delete(metadata.name),
      reset: () => this.#namespaces.clear(),
    });
    this.#queue.start();
  }

  close(): void {
    this.#queue.close();
  }

  async #makeIn(namespace: string): Promise<void> {
    const { objects, transport } = this.#options;
    const found = objects.cached<Namespace>(NAMESPACES, { namespace: "", name: namespace });
    if (found?.status?.phase !== "Active") return;
    if (objects.cached(SERVICE_ACCOUNTS, { namespace, name: NAME }) !== undefined) return;
    const object = { apiVersion: "v1", kind: "ServiceAccount", metadata: { name: NAME, namespace } } satisfies KubeObject;
    try {
      await transport.request({ verb: "create", ...SERVICE_ACCOUNTS, version: "v1", namespace, object });
    } catch (error) {
      // Somebody was first, or the namespace has begun to go.
      if (!isReason(error, "AlreadyExists") && !isTerminating(error)) throw error;
    }
  }
}

function isTerminating(error: unknown): boolean {
  return isStatusError(error) && (error.details?.causes ?? []).some(({ reason }) => reason === "NamespaceTerminating");
}
