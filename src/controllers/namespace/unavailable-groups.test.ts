import assert from "node:assert/strict";
import test from "node:test";
import type { APIService } from "../../api/generated/apiregistration.k8s.io/v1.ts";
import { sortFailures, type SortedFailures } from "./unavailable-groups.ts";

const NOW_MS = Date.parse("2026-01-01T00:10:00Z");
const FAILURE = { groupVersion: "metrics.k8s.io/v1beta1", error: new Error("unavailable") };
const REMOTE = { service: { name: "adapter", namespace: "kube-system" } };

function anApiService(status: "True" | "False" | "Unknown", lastTransitionTime: string, spec: object = REMOTE): APIService {
  const conditions = [{ type: "Available", status, lastTransitionTime }];
  const metadata = { name: "v1beta1.metrics.k8s.io" };
  return { apiVersion: "apiregistration.k8s.io/v1", kind: "APIService", metadata, spec, status: { conditions } } as APIService;
}

function sort(service?: APIService): SortedFailures {
  return sortFailures([FAILURE], (name) => (name === service?.metadata.name ? service : undefined), NOW_MS);
}

const LONG_AGO = "2026-01-01T00:09:00Z";

for (const { it, service } of [
  { it: "has no APIService", service: undefined },
  { it: "is served by an available server", service: anApiService("True", LONG_AGO) },
  { it: "is served by a server whose availability is unknown", service: anApiService("Unknown", LONG_AGO) },
  { it: "is served by this server", service: anApiService("False", LONG_AGO, {}) },
]) {
  test(`a namespace waits for a group that ${it}`, () => assert.deepEqual(sort(service), { blocking: [FAILURE], abandoned: [] }));
}

test("a namespace waits until a server has been unavailable for a minute", () => {
  assert.deepEqual(sort(anApiService("False", "2026-01-01T00:09:20Z")), { blocking: [], abandoned: [], waitMs: 20_000 });
  assert.deepEqual(sort(anApiService("False", LONG_AGO)), { blocking: [], abandoned: [FAILURE] });
});
