import { deepEqual } from "node:assert/strict";
import { test } from "node:test";
import type { AccessAttributes } from "../authorization.ts";
import { requestShowing } from "../../authentication/testing/shown.ts";
import { requestedAccess } from "./requested-access.ts";

const USER = { name: "jane", groups: [] };

/** "verb group/version resource/subresource namespace/name", and selectors. */
function shown({ verb, resource, path }: AccessAttributes): string {
  if (resource === undefined) return `${verb} ${path}`;
  const { group, version, plural, subresource, namespace, name, fieldSelector, labelSelector } = resource;
  const selectors = [fieldSelector, labelSelector].flatMap((selector) => (selector === undefined ? [] : [` ${selector}`]));
  return `${verb} ${group}/${version} ${plural}/${subresource} ${namespace}/${name}${selectors.join("")}`;
}

const rows: readonly [request: string, access: string][] = [
  ["GET /version", "get /version"],
  ["POST /nope/x", "post /nope/x"],
  ["GET /api/v1/pods", "list /v1 pods/ /"],
  ["HEAD /api/v1/pods", "list /v1 pods/ /"],
  ["GET /api/v1/pods?watch=true", "watch /v1 pods/ /"],
  ["GET /api/v1/pods?watch=0", "list /v1 pods/ /"],
  ["GET /api/v1/pods?limit=x&watch", "watch /v1 pods/ /"],
  ["GET /api/v1/watch/namespaces/x/pods/y", "watch /v1 pods/ x/y"],
  ["GET /api/v1/namespaces/x/pods/y", "get /v1 pods/ x/y"],
  ["GET /apis/apps/v1/namespaces/x/deployments/y/scale", "get apps/v1 deployments/scale x/y"],
  ["PUT /apis/apps/v1/namespaces/x/deployments/y/scale", "update apps/v1 deployments/scale x/y"],
  ["PATCH /api/v1/nodes/y", "patch /v1 nodes/ /y"],
  ["POST /api/v1/namespaces/x/pods", "create /v1 pods/ x/"],
  ["DELETE /api/v1/namespaces/x/pods/y", "delete /v1 pods/ x/y"],
  ["DELETE /api/v1/namespaces/x/pods?labelSelector=a", "deletecollection /v1 pods/ x/ a"],
  ["OPTIONS /api/v1/namespaces/x/pods/y/proxy/a", " /v1 pods/proxy x/y"],
  ["__proto__ /api/v1/nodes/y", " /v1 nodes/ /y"],
  ["GET /api/v1/namespaces/x", "get /v1 namespaces/ x/x"],
  ["GET /api/v1/namespaces/x/status", "get /v1 namespaces/status x/x"],
  ["GET /api/v1/namespaces", "list /v1 namespaces/ /"],
  ["GET /api/v1/pods?fieldSelector=metadata.name%3Dabc", "list /v1 pods/ /abc metadata.name=abc"],
  ["GET /api/v1/pods?fieldSelector=metadata.name%3Da%2Fb", "list /v1 pods/ / metadata.name=a/b"],
  ["GET /api/v1/pods?fieldSelector=metadata.name!%3Dabc", "list /v1 pods/ / metadata.name!=abc"],
  ["GET /api/v1/pods?fieldSelector=broken&labelSelector=b", "list /v1 pods/ / broken b"],
  ["GET /api/v1/namespaces/x/pods/y?fieldSelector=metadata.name%3Dabc", "get /v1 pods/ x/y"],
  ["DELETE /api/v1/pods?fieldSelector=metadata.name%3Dabc", "deletecollection /v1 pods/ / metadata.name=abc"],
];

for (const [request, access] of rows) {
  test(`${request} has the attributes ${access}`, () => {
    const [method = "", target = ""] = request.split(" ");
    const [path = "", query = ""] = target.split("?");
    deepEqual(shown(requestedAccess(requestShowing({ method, path, query }), USER)), access);
  });
}
