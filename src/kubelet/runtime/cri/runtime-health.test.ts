import { deepEqual, equal } from "node:assert/strict";
import { test } from "node:test";
import { featuresIn, isTooOld, plainVersion, setUpIn, troubleIn } from "./runtime-health.ts";

const condition = (type: string, status: boolean, reason = "", message = "") => ({ type, status, reason, message });

for (const { conditions, expected } of [
  { conditions: [condition("RuntimeReady", true), condition("NetworkReady", true)], expected: undefined },
  {
    conditions: [condition("RuntimeReady", true), condition("NetworkReady", false, "NetworkPluginNotReady", "cni plugin not initialized")],
    expected: "container runtime network not ready: NetworkReady=false reason:NetworkPluginNotReady message:cni plugin not initialized",
  },
  {
    conditions: [condition("RuntimeReady", false, "Broken", "no disk"), condition("NetworkReady", false)],
    expected: "container runtime not ready: RuntimeReady=false reason:Broken message:no disk",
  },
  { conditions: [condition("RuntimeReady", true)], expected: "container runtime network not ready: NetworkReady is not reported" },
]) {
  test(`runtime health is reported as: ${expected ?? "healthy"}`, () => equal(troubleIn(conditions), expected));
}

for (const [name, text, expected] of [
  ["containerd", "v1.5.18", true],
  ["containerd", "1.6.20~ds1", false],
  ["containerd", "v2.1.0", false],
  ["containerd", "0.9", true],
  ["containerd", "main", false],
  ["cri-o", "1.30.0", false],
] as const) {
  test(`${name} ${text} is ${expected ? "too old" : "new enough"}`, () => equal(isTooOld({ name, version: plainVersion(text) }), expected));
}

test("the configuration that a runtime reports is parsed as far as it is known", () => {
  const config = { sandboxImage: "pause:3", containerd: { runtimes: { runc: { options: { SystemdCgroup: true } } } } };

  deepEqual(
    setUpIn(
      new Map([
        ["config", JSON.stringify(config)],
        ["lastCNILoadStatus", "OK"],
      ]),
    ),
    { sandboxImage: "pause:3", networkLoad: "OK", usesSystemdCgroups: true },
  );
  deepEqual(setUpIn(new Map([["config", "no JSON"]])), {});
});

test("features of runtime handlers are those that the runtime reports; containerd before 2.0 reports none", () => {
  deepEqual(featuresIn({ runtimeHandlers: [], features: undefined }), undefined);
  deepEqual(
    featuresIn({
      runtimeHandlers: [
        { name: "", features: { recursiveReadOnlyMounts: true, userNamespaces: true } },
        { name: "kata", features: undefined },
      ],
      features: { supplementalGroupsPolicy: true },
    }),
    {
      handlers: [
        { name: "", hasRecursiveReadOnlyMounts: true, hasUserNamespaces: true },
        { name: "kata", hasRecursiveReadOnlyMounts: false, hasUserNamespaces: false },
      ],
      hasSupplementalGroupsPolicy: true,
    },
  );
});
