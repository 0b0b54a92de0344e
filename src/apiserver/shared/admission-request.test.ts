import { deepEqual } from "node:assert/strict";
import { test } from "node:test";
import { pods } from "../../api/core/v1/pod.ts";
import type { KubeObject } from "../../api/machinery/object.ts";
import type { AdmissionRequest } from "../framework/admission.ts";
import type { Endpoint } from "../framework/endpoints.ts";
import { startServer } from "../testing/server.ts";
import { isCreateOf, isUpdateOf } from "./admission-request.ts";

const OBJECT: KubeObject = { apiVersion: "v1", kind: "Pod", metadata: { name: "a" } };

for (const { operation, plural, subresource, expected } of [
  { operation: "CREATE", plural: "pods", subresource: "", expected: [true, false, false] },
  { operation: "CREATE", plural: "pods", subresource: "binding", expected: [false, false, false] },
  { operation: "UPDATE", plural: "pods", subresource: "", expected: [false, true, false] },
  { operation: "UPDATE", plural: "pods", subresource: "resize", expected: [false, false, true] },
  { operation: "UPDATE", plural: "configmaps", subresource: "", expected: [false, false, false] },
  { operation: "DELETE", plural: "pods", subresource: "", expected: [false, false, false] },
  { operation: "CONNECT", plural: "pods", subresource: "exec", expected: [false, false, false] },
] as const) {
  test(`${operation} of ${plural}${subresource === "" ? "" : `/${subresource}`} narrows to a create, an update, a resize of Pods`, async () => {
    await using server = await startServer();
    const endpoint = server.server.endpoints.find("", "v1", plural) as Endpoint;
    const context = { user: { name: "jane", groups: [] }, userAgent: "", warn() {} };
    const request: AdmissionRequest = {
      operation,
      endpoint,
      subresource,
      namespace: "default",
      name: "a",
      object: OBJECT,
      oldObject: OBJECT,
      dryRun: false,
      context,
    };

    const narrowed = [isCreateOf(request, pods), isUpdateOf(request, pods), isUpdateOf(request, pods, "resize")];

    deepEqual(narrowed, expected);
  });
}
