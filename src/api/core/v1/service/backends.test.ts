import { test } from "node:test";
import { deepEqual } from "node:assert/strict";
import type { Pod, PodSpec, PodStatus, Service, ServicePort, ServiceSpec } from "../../../generated/core/v1.ts";
import { familiesOf, followsPods, hasNoClusterIp, hostnameWithin, isBackend, podAddresses, selects, targetPortOf } from "./backends.ts";
import { buildPod } from "../../../testing/pod.ts";

function aService(spec: ServiceSpec): Service {
  return { apiVersion: "v1", kind: "Service", metadata: { name: "web", namespace: "default" }, spec };
}

function aPod(spec: Partial<PodSpec>, status: PodStatus = {}): Pod {
  return buildPod({ metadata: { name: "a" }, spec, status });
}

for (const { it, spec, follows } of [
  { it: "with a selector selects Pods", spec: { selector: { app: "web" } }, follows: true },
  { it: "without a selector selects none", spec: {}, follows: false },
  { it: "whose selector has no labels selects none", spec: { selector: {} }, follows: false },
  { it: "that is another name selects none", spec: { type: "ExternalName", selector: { app: "web" } }, follows: false },
] as const) {
  test(`a Service ${it}`, () => deepEqual(followsPods(aService(spec)), follows));
}

for (const { it, labels, is } of [
  { it: "all its labels and others", labels: { app: "web", tier: "front", other: "1" }, is: true },
  { it: "only some of its labels", labels: { app: "web" }, is: false },
  { it: "another value", labels: { app: "web", tier: "back" }, is: false },
  { it: "no labels", labels: undefined, is: false },
]) {
  test(`a selector and a Pod with ${it}`, () => deepEqual(selects({ app: "web", tier: "front" }, labels), is));
}

for (const { it, spec, families, headless } of [
  {
    it: "has the families in ipFamilies",
    spec: { clusterIP: "10.0.0.1", ipFamilies: ["IPv6", "IPv4"] },
    families: ["IPv6", "IPv4"],
    headless: false,
  },
  { it: "without ipFamilies has the family of its cluster IP", spec: { clusterIP: "fd00::1" }, families: ["IPv6"], headless: false },
  { it: "without a cluster IP has both families", spec: { clusterIP: "None" }, families: ["IPv4", "IPv6"], headless: true },
] satisfies readonly { it: string; spec: ServiceSpec; families: readonly string[]; headless: boolean }[]) {
  test(`a Service ${it}`, () => deepEqual([familiesOf(aService(spec)), hasNoClusterIp(aService(spec))], [families, headless]));
}

for (const { it, status, is } of [
  { it: "with an address", status: { phase: "Running", podIP: "10.0.0.1" }, is: true },
  { it: "without an address", status: { phase: "Running" }, is: false },
  { it: "that has succeeded", status: { phase: "Succeeded", podIP: "10.0.0.1" }, is: false },
  { it: "that has failed", status: { phase: "Failed", podIPs: [{ ip: "10.0.0.1" }] }, is: false },
] satisfies readonly { it: string; status: PodStatus; is: boolean }[]) {
  test(`a Pod ${it} ${is ? "is" : "is not"} an endpoint`, () => deepEqual(isBackend(aPod({}, status)), is));
}

test("the addresses of a family are canonical, and malformed ones are dropped", () => {
  const pod = aPod({}, { podIPs: [{ ip: "010.0.0.1" }, { ip: "FD00:0::1" }, { ip: "::ffff:10.0.0.2" }, { ip: "no" }] });

  deepEqual(podAddresses(pod, "IPv4"), ["10.0.0.1", "10.0.0.2"]);
  deepEqual(podAddresses(pod, "IPv6"), ["fd00::1"]);
});

for (const { it, spec, hostname } of [
  { it: "whose subdomain is the Service", spec: { hostname: "db-0", subdomain: "web" }, hostname: "db-0" },
  { it: "with another subdomain", spec: { hostname: "db-0", subdomain: "other" }, hostname: undefined },
  { it: "without a host name", spec: { subdomain: "web" }, hostname: undefined },
]) {
  test(`the host name of a Pod ${it}`, () => deepEqual(hostnameWithin(aService({}), aPod(spec)), hostname));
}

const CONTAINERS: Partial<PodSpec> = {
  containers: [
    { name: "a", ports: [{ name: "dns", containerPort: 53, protocol: "UDP" }] },
    { name: "b", ports: [{ name: "web", containerPort: 8080 }] },
  ],
  initContainers: [
    { name: "sidecar", restartPolicy: "Always", ports: [{ name: "proxy", containerPort: 15001 }] },
    { name: "first", ports: [{ name: "once", containerPort: 1 }] },
  ],
};

for (const { it, port, found } of [
  { it: "a number is that number", port: { port: 80, targetPort: 8080 }, found: 8080 },
  { it: "none is the port itself", port: { port: 80 }, found: 80 },
  { it: "a name is looked up in all containers", port: { port: 80, targetPort: "web" }, found: 8080 },
  { it: "a name of another protocol is not found", port: { port: 80, targetPort: "dns" }, found: undefined },
  { it: "a name of a sidecar is found", port: { port: 80, targetPort: "proxy" }, found: 15001 },
  { it: "a name of an init container is not found", port: { port: 80, targetPort: "once" }, found: undefined },
] satisfies readonly { it: string; port: ServicePort; found: number | undefined }[]) {
  test(`target ports: ${it}`, () => deepEqual(targetPortOf(aPod(CONTAINERS), port), found));
}
