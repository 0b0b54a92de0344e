import { deepEqual, equal } from "node:assert/strict";
import { test } from "node:test";
import { withPodMtu } from "./pod-mtu.ts";

const CONFLIST = { name: "k8-x", plugins: [{ type: "bridge", bridge: "k8-x" }, { type: "portmap" }] };

test("the MTU of Pods is set in the bridge plugin and nothing else changes", () => {
  const changed = withPodMtu(JSON.stringify(CONFLIST), 1_450);
  deepEqual(JSON.parse(changed ?? ""), {
    name: "k8-x",
    plugins: [{ type: "bridge", bridge: "k8-x", mtu: 1_450 }, { type: "portmap" }],
  });
  equal(withPodMtu(changed ?? "", 1_450), undefined);
  equal(withPodMtu(JSON.stringify({ type: "bridge" }), 1_450), undefined);
});
