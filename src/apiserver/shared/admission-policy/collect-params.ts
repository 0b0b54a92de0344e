/** The parameter objects of a binding, in the version that the policy names. Messages are upstream's. */
import type { ParamKind, ParamRef } from "../../../api/generated/admissionregistration.k8s.io/v1.ts";
import { apiVersionOf, type KubeObject } from "../../../api/machinery/object.ts";
import { labelSelectorFromObject } from "../../../api/machinery/selectors/label-selector.ts";
import type { Endpoint, Endpoints } from "../../framework/endpoints.ts";
import type { Objects } from "../../framework/objects.ts";
import { inVersion } from "../admission/admitted-objects.ts";

/** A mistake of the policy or binding: its failure policy decides. */
export class ConfigurationError extends Error {
  override readonly name = "ConfigurationError";
}

export function paramEndpoint(endpoints: Endpoints, { apiVersion = "", kind = "" }: ParamKind): Endpoint | undefined {
  for (const endpoint of endpoints.all()) {
    if (endpoint.apiVersion === apiVersion && endpoint.resource.kind === kind && endpoint.resource.stored) return endpoint;
  }
  return undefined;
}

export interface WantedParams {
  /** Absent: the policy has no parameters. */
  readonly endpoint: Endpoint | undefined;
  readonly paramRef: ParamRef | undefined;
  /** Of the request; "" if it has none. */
  readonly namespace: string;
}

/** One undefined if the policy is evaluated without parameters. Rejects with a ConfigurationError. */
export async function collectParams(objects: Objects, wanted: WantedParams): Promise<readonly (KubeObject | undefined)[]> {
  const { endpoint, paramRef, namespace } = wanted;
  if (endpoint === undefined || paramRef === undefined) return [undefined];
  const { resource } = endpoint;
  if (resource.scope === "Cluster" && (paramRef.namespace ?? "") !== "") {
    throw new ConfigurationError("paramRef.namespace must not be provided for a cluster-scoped `paramKind`");
  }
  const within = resource.scope === "Cluster" ? "" : paramRef.namespace || namespace;
  if (resource.scope === "Namespaced" && within === "") {
    throw new ConfigurationError("cannot use namespaced paramRef in policy binding that matches cluster-scoped resources");
  }
  const found = await foundParams(objects, endpoint, paramRef, within);
  if (found.length === 0 && paramRef.parameterNotFoundAction === "Deny") {
    throw new ConfigurationError("no params found for policy binding with `Deny` parameterNotFoundAction");
  }
  return Promise.all(found.map((object) => inVersion(endpoint, object)));
}

async function foundParams(
  objects: Objects,
  { resource }: Endpoint,
  paramRef: ParamRef,
  namespace: string,
): Promise<readonly KubeObject[]> {
  const kind = { group: resource.storage.group, plural: resource.plural };
  const { name = "", selector } = paramRef;
  if (name !== "") {
    const found = await objects.get(kind, { namespace, name });
    return found === undefined ? [] : [found];
  }
  if (selector === undefined) throw new ConfigurationError("one of name or selector must be provided");
  const labels = labelSelectorFromObject(selector);
  return (await objects.list(kind, namespace)).filter(({ metadata }) => labels.matches(metadata.labels));
}

/** "rules.example.com/v1, Kind=Limit", as Go prints the kind. */
export function paramKindText({ apiVersion = "", kind = "" }: ParamKind): string {
  const [version = "", group = ""] = apiVersion.split("/").toReversed();
  return `${apiVersionOf({ group, version })}, Kind=${kind}`;
}
