import assert from "node:assert/strict";
import { test } from "node:test";
import { dnsWarnings, portMappingsOf, sandboxRun } from "./sandbox.ts";
import { sandboxResources } from "./resources.ts";
import { sandboxSecurity } from "./security.ts";
import { aContainer, aPod, node } from "./testing/views.ts";

test("sandboxConfig has all sandbox settings of the Pod", () => {
  const pod = aPod(
    {
      containers: [aContainer({ ports: [{ containerPort: 80, hostPort: 8080 }] })],
      securityContext: { sysctls: [{ name: "kernel/shm_rmid_forced", value: "1" }] },
      subdomain: "web",
    },
    { labels: { app: "web" }, annotations: { note: "x" } },
  );

  assert.deepEqual(sandboxRun({ pod, node, runtimeHandler: "runc" }), {
    hostname: "web-0",
    logDirectory: "/var/log/pods/shop_web-0_u-1",
    dns: {
      servers: ["10.96.0.10"],
      searches: ["shop.svc.cluster.local", "svc.cluster.local", "cluster.local", "home.arpa"],
      options: ["ndots:5"],
    },
    portMappings: [{ protocol: "TCP", containerPort: 80, hostPort: 8080, hostIp: "" }],
    labels: { app: "web", "io.kubernetes.pod.name": "web-0", "io.kubernetes.pod.namespace": "shop", "io.kubernetes.pod.uid": "u-1" },
    annotations: { note: "x" },
    cgroupParent: "/kubepods/besteffort/podu-1",
    sysctls: { "kernel.shm_rmid_forced": "1" },
    security: sandboxSecurity(pod),
    runtimeHandler: "runc",
    resources: sandboxResources(pod),
  });
  assert.deepEqual(dnsWarnings({ pod, node }), []);
});

test("hostPorts are mapped once each, and not with hostNetwork", () => {
  const ports = [
    { containerPort: 80 },
    { name: "http", containerPort: 80, hostPort: 8080 },
    { name: "http", containerPort: 81, hostPort: 8081 },
    { containerPort: 53, hostPort: 53, protocol: "UDP" as const, hostIP: "127.0.0.1" },
    { containerPort: 53, hostPort: 53, protocol: "UDP" as const, hostIP: "127.0.0.1" },
  ];
  const containers = [aContainer({ ports }), aContainer({ name: "b", ports: [{ name: "http", containerPort: 90, hostPort: 9090 }] })];

  assert.deepEqual(portMappingsOf(aPod({ containers })), [
    { protocol: "TCP", containerPort: 80, hostPort: 8080, hostIp: "" },
    { protocol: "UDP", containerPort: 53, hostPort: 53, hostIp: "127.0.0.1" },
    { protocol: "TCP", containerPort: 90, hostPort: 9090, hostIp: "" },
  ]);
  assert.deepEqual(portMappingsOf(aPod({ containers, hostNetwork: true })), []);
});
