import assert from "node:assert/strict";
import { test } from "node:test";
import { pods } from "./pod.ts";
import { newPod } from "./pod/testing/pods.ts";

test("Pods have upstream's field selectors", () => {
  const pod = newPod({ spec: { nodeName: "n", serviceAccountName: "sa", hostNetwork: true } });
  const running = { ...pod, status: { ...pod.status, podIPs: [{ ip: "10.0.0.1" }], nominatedNodeName: "m" } };

  const fields = Object.fromEntries(Object.entries(pods.selectableFields).map(([path, read]) => [path, read(running)]));

  assert.deepEqual(fields, {
    "spec.nodeName": "n",
    "spec.host": "n",
    "spec.restartPolicy": "Always",
    "spec.schedulerName": "default-scheduler",
    "spec.serviceAccountName": "sa",
    "spec.hostNetwork": "true",
    "status.phase": "Pending",
    "status.podIP": "10.0.0.1",
    "status.podIPs": "",
    "status.nominatedNodeName": "m",
  });
});

test("only a change of the spec increments the generation, and an equivalent quantity is no change", () => {
  const pod = newPod({ container: { resources: { requests: { memory: "1Gi" } } } });
  const spelled = newPod({ container: { resources: { requests: { memory: "1024Mi" } } } });
  const changed = newPod({ container: { resources: { requests: { memory: "2Gi" } } } });

  assert.equal(pods.changesGeneration?.({ ...pod, metadata: { name: "other" } }, pod), false);
  assert.equal(pods.changesGeneration?.(spelled, pod), false);
  assert.equal(pods.changesGeneration?.(changed, pod), true);
});

test("Pods have the subresources binding, eviction, status, resize and ephemeralcontainers", () => {
  const paths = Object.entries(pods.subresources).map(([name, { of, verbs }]) => `${name} ${of} ${verbs.join(",")}`);

  assert.deepEqual(paths, [
    "status object get,patch,update",
    "ephemeralcontainers object get,patch,update",
    "resize object get,patch,update",
    "binding action create",
    "eviction action create",
    "attach connection create,get",
    "exec connection create,get",
    "log connection get",
    "portforward connection create,get",
    "proxy connection create,delete,get,patch,update",
  ]);
});
