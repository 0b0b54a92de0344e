import { deepEqual, equal } from "node:assert/strict";
import { test } from "node:test";
import { containerNames, podSelector } from "./pod-selector.ts";

const metadata = { name: "x" };

for (const { it, apiVersion = "apps/v1", selector, wanted } of [
  { it: "labels", selector: { matchLabels: { app: "web", tier: "front" } }, wanted: "app=web,tier=front" },
  {
    it: "expressions",
    selector: {
      matchLabels: { app: "web" },
      matchExpressions: [
        { key: "a", operator: "In", values: ["1", "2"] },
        { key: "b", operator: "NotIn", values: ["3"] },
        { key: "c", operator: "Exists" },
        { key: "d", operator: "DoesNotExist" },
      ],
    },
    wanted: "app=web,a in (1,2),b notin (3),c,!d",
  },
  { it: "the labels of a Service", apiVersion: "v1", selector: { app: "web" }, wanted: "app=web" },
  { it: "none", apiVersion: "v1", selector: {}, wanted: undefined },
])
  test(`the selector of Pods from ${it}`, () => {
    const object = { apiVersion, kind: "Any", metadata, spec: { selector } };
    equal(podSelector(object), wanted);
  });

test("containers of a Pod are those of all three lists", () => {
  const spec = { containers: [{ name: "main" }], initContainers: [{ name: "init" }], ephemeralContainers: [{ name: "debug" }] };
  const pod = { apiVersion: "v1", kind: "Pod", metadata, spec };
  deepEqual(containerNames(pod), ["init", "main", "debug"]);
});
