/** What the user may do, from the server's own decision (SelfSubjectAccessReview): views say so before a request fails. */
import type { JsonObject } from "../../api/machinery/object.ts";
import type { ClusterApi } from "./cluster-api.ts";

export interface Attributes {
  readonly verb: string;
  readonly group?: string;
  readonly resource: string;
  readonly subresource?: string;
  readonly namespace?: string;
  readonly name?: string;
}

interface AccessReview {
  readonly status?: { readonly allowed?: boolean };
}

/** Rejects if the server cannot be reached. */
export function mayDo(api: ClusterApi, resourceAttributes: Attributes): Promise<boolean> {
  return isAllowed(api, { resourceAttributes: { ...resourceAttributes } });
}

/** Whether the user may read a path that is not one of objects. Rejects if the server cannot be reached. */
export function mayGet(api: ClusterApi, path: string): Promise<boolean> {
  return isAllowed(api, { nonResourceAttributes: { path, verb: "get" } });
}

async function isAllowed(api: ClusterApi, spec: JsonObject): Promise<boolean> {
  const review = await api.post<AccessReview>("/apis/authorization.k8s.io/v1/selfsubjectaccessreviews", {
    apiVersion: "authorization.k8s.io/v1",
    kind: "SelfSubjectAccessReview",
    spec,
  });
  return review.status?.allowed === true;
}

/** As the server's own message of a 403. */
export function forbiddenText({ verb, resource, subresource, namespace = "", name = "" }: Attributes): string {
  const what = subresource === undefined ? resource : `${resource}/${subresource}`;
  const where = namespace === "" ? "in all namespaces" : `in namespace ${namespace}`;
  return `You may not ${verb} ${what}${name === "" ? "" : ` ${name}`} ${where}.`;
}
