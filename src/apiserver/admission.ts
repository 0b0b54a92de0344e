/**
 * The contract of admission: what may change or refuse a write after it was allowed and before it is validated and stored.
 * One folder or file per plugin, which know nothing of each other; all.ts lists them in order.
 */
import type { KubeObject } from "../api/machinery/object.ts";
import type { Endpoint, Endpoints } from "./endpoints.ts";
import type { RequestContext } from "./request.ts";

export interface AdmissionRequest {
  readonly operation: "CREATE" | "UPDATE" | "DELETE" | "CONNECT";
  readonly endpoint: Endpoint;
  readonly subresource: string;
  readonly namespace: string;
  /** "" if the server will make it from generateName, and for a collection. */
  readonly name: string;
  /** In the version of the request. Absent for DELETE. For CONNECT: the options (PodExecOptions), which have no metadata. */
  readonly object?: KubeObject;
  /** What is there now, in the version of the request. Absent for CREATE and CONNECT. */
  readonly oldObject?: KubeObject;
  readonly dryRun: boolean;
  readonly context: RequestContext;
}

export interface AdmissionPlugin {
  /** As upstream's flags name it: "NamespaceLifecycle". */
  readonly name: string;
  /** Called in order before validation. Returns the changed object, or undefined if it stays as it is; throws a StatusError to refuse. */
  mutate?(request: AdmissionRequest): Promise<KubeObject | undefined> | KubeObject | undefined;
  /** Called in order after validation. Throws a StatusError to refuse. */
  validate?(request: AdmissionRequest): Promise<void> | void;
}

/** What plugins may look at. */
export interface AdmissionDependencies {
  readonly endpoints: Endpoints;
}

export class AdmissionChain {
  readonly #mutating: readonly AdmissionPlugin[];
  readonly #validating: readonly AdmissionPlugin[];

  constructor(plugins: readonly AdmissionPlugin[]) {
    this.#mutating = plugins.filter((plugin) => plugin.mutate !== undefined);
    this.#validating = plugins.filter((plugin) => plugin.validate !== undefined);
  }

  async mutate(request: AdmissionRequest, object: KubeObject): Promise<KubeObject> {
    let current = object;
    for (const plugin of this.#mutating) current = (await plugin.mutate?.({ ...request, object: current })) ?? current;
    return current;
  }

  async validate(request: AdmissionRequest): Promise<void> {
    for (const plugin of this.#validating) await plugin.validate?.(request);
  }
}
