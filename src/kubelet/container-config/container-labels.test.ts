import assert from "node:assert/strict";
import { test } from "node:test";
import { containerAnnotations, containerHash, containerLabels, sandboxLabels } from "./container-labels.ts";
import { aContainer, aPod } from "./testing/views.ts";

test("the container hash equals upstream's", () => {
  assert.equal(containerHash({ name: "test_container", image: "foo/image:v1" }), "8e45cbd0");
});

test("sandboxes carry the Pod's labels and their identity, containers only their identity", () => {
  const pod = aPod({}, { labels: { app: "web" } });
  const who = { "io.kubernetes.pod.name": "web-0", "io.kubernetes.pod.namespace": "shop", "io.kubernetes.pod.uid": "u-1" };

  assert.deepEqual(sandboxLabels(pod), { app: "web", ...who });
  assert.deepEqual(containerLabels(pod, aContainer()), { ...who, "io.kubernetes.container.name": "main" });
});

test("container annotations carry what is needed to terminate the container", () => {
  const pod = aPod({ terminationGracePeriodSeconds: 30 }, { deletionGracePeriodSeconds: 5 });
  const container = aContainer({
    terminationMessagePath: "/dev/termination-log",
    terminationMessagePolicy: "File",
    ports: [{ containerPort: 80, protocol: "TCP" }],
    lifecycle: { preStop: { exec: { command: ["bye"] } } },
  });

  assert.deepEqual(containerAnnotations(pod, container, 2), {
    "io.kubernetes.container.hash": containerHash(container),
    "io.kubernetes.container.restartCount": "2",
    "io.kubernetes.container.terminationMessagePath": "/dev/termination-log",
    "io.kubernetes.container.terminationMessagePolicy": "File",
    "io.kubernetes.container.preStopHandler": '{"exec":{"command":["bye"]}}',
    "io.kubernetes.container.ports": '[{"containerPort":80,"protocol":"TCP"}]',
    "io.kubernetes.pod.deletionGracePeriod": "5",
    "io.kubernetes.pod.terminationGracePeriod": "30",
  });
});
