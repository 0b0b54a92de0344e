import { equal, rejects } from "node:assert/strict";
import { test } from "node:test";
import { configMaps } from "../../api/core/v1/config-map.ts";
import { namespaces } from "../../api/core/v1/namespace.ts";
import { forbiddenError } from "../../api/machinery/status-error.ts";
import { given } from "../../testing/given.ts";
import { isNamespaceTerminating } from "./errors.ts";

test("isNamespaceTerminating distinguishes that cause from other rejections", async () => {
  const metadata = { name: "going" };
  await using cluster = await given({ apiVersion: "v1", kind: "Namespace", metadata });
  await cluster.client.delete(namespaces, metadata);
  const make = cluster.client.create(configMaps, { apiVersion: "v1", kind: "ConfigMap", metadata: { namespace: "going", name: "a" } });

  await rejects(make, isNamespaceTerminating);
  equal(isNamespaceTerminating(forbiddenError({ group: "", plural: "configmaps" }, "a", "because")), false);
  equal(isNamespaceTerminating(new Error("NamespaceTerminating")), false);
});
