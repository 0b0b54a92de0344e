import { deepEqual } from "node:assert/strict";
import { test } from "node:test";
import { configMaps } from "../../api/core/v1/config-map.ts";
import type { KubeObject } from "../../api/machinery/object.ts";
import { ClusterView } from "../why/cluster-view.ts";
import { copyCluster } from "./cluster-copy.ts";

test("a copy of a cluster calls none of its webhooks", async () => {
  const webhook = {
    name: "all.example.com",
    clientConfig: { url: "https://127.0.0.1:1/" },
    rules: [{ apiGroups: ["*"], apiVersions: ["*"], operations: ["*"], resources: ["*/*"] }],
    failurePolicy: "Fail",
    sideEffects: "None",
    admissionReviewVersions: ["v1"],
  };
  const object = (apiVersion: string, kind: string, name: string, members: object = {}): KubeObject => {
    return { apiVersion, kind, metadata: { name, resourceVersion: "5" }, ...members };
  };
  const group = "admissionregistration.k8s.io";
  const objects = new Map([
    ["namespaces", [object("v1", "Namespace", "default")]],
    [`validatingwebhookconfigurations.${group}`, [object(`${group}/v1`, "ValidatingWebhookConfiguration", "v", { webhooks: [webhook] })]],
    [`mutatingwebhookconfigurations.${group}`, [object(`${group}/v1`, "MutatingWebhookConfiguration", "m", { webhooks: [webhook] })]],
  ]);
  const view = new ClusterView({ objects, causes: [], decisions: new Map(), nowMs: Date.parse("2026-01-01T00:00:00Z") });

  await using copy = await copyCluster(view);

  await copy.client.create(configMaps, { apiVersion: "v1", kind: "ConfigMap", metadata: { namespace: "default", name: "a" } });
  deepEqual((await copy.client.get(configMaps, { namespace: "default", name: "a" })).metadata.name, "a");
});
