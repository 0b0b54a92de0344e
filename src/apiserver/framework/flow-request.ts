/** The attributes of a request that API Priority and Fairness uses. An ApiRequest satisfies it as it is, so the hot path copies nothing. */
import { NAMESPACES } from "./access/request-path.ts";

export interface FlowUser {
  readonly name: string;
  readonly groups: readonly string[];
}

export interface FlowRequest {
  readonly verb: string;
  /** Path of a non-resource request such as "/healthz"; absent for a resource request, whose other members are then set. */
  readonly path?: string;
  readonly group: string;
  readonly version: string;
  readonly plural: string;
  readonly subresource: string;
  readonly namespace: string;
  readonly name: string;
  readonly options: FlowRequestOptions;
  readonly context: { readonly user: FlowUser };
}

/** Query parameters that determine the work of a list or watch. */
export interface FlowRequestOptions {
  readonly limit?: number;
  readonly continue?: string;
  readonly resourceVersion?: string;
  readonly resourceVersionMatch?: string;
  readonly labelSelector?: string;
  readonly fieldSelector?: string;
  readonly sendInitialEvents?: boolean;
}

/** Namespace as in upstream's RequestInfo: a request for a Namespace object is in that namespace. */
export function flowNamespaceOf({ plural, group, namespace, name }: FlowRequest): string {
  return plural === NAMESPACES && group === "" && name !== "" ? name : namespace;
}

const METADATA_NAME = /(?:^|,)metadata\.name==?([^,!=]+)(?:,|$)/;

/** Name as in upstream's RequestInfo: a field selector on metadata.name counts as the name in the path. */
export function flowNameOf({ name, options: { fieldSelector = "" } }: FlowRequest): string {
  return name !== "" || fieldSelector === "" ? name : (METADATA_NAME.exec(fieldSelector)?.[1] ?? "");
}
