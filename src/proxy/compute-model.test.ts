import assert from "node:assert/strict";
import { it } from "node:test";
import { withAnnouncer } from "../api/core/v1/service/announcer.ts";
import type { Service } from "../api/generated/core/v1.ts";
import type { EndpointSlice } from "../api/generated/discovery.k8s.io/v1.ts";
import { ModelComputation } from "./compute-model.ts";
import { anEndpoint, aService, aSlice } from "./testing/objects.ts";

const SETTINGS = { nodePortAddresses: ["0.0.0.0/0"], podCidrs: [], nodeIps: [] };

function given() {
  const services = new Map<string, Service>();
  const slices = new Map<string, readonly EndpointSlice[]>();
  const read: string[] = [];
  const source = {
    serviceKeys: () => services.keys(),
    service(key: string) {
      read.push(key);
      return services.get(key);
    },
    slices: (key: string) => slices.get(key) ?? [],
  };
  return { services, slices, read, computation: new ModelComputation(source, { node: { name: "here", zone: "a" }, settings: SETTINGS }) };
}

it("the model is sorted by key, also if Services are added later", () => {
  const { services, computation } = given();
  services.set("default/b", aService("b"));
  services.set("default/c", aService("c"));
  computation.updateAll();
  services.set("default/a", aService("a"));

  const { servicePorts } = computation.update(["default/a"]);

  assert.deepEqual([...servicePorts.keys()], ["default/a:/TCP/4", "default/b:/TCP/4", "default/c:/TCP/4"]);
});

it("a change of one Service recomputes only it, and others keep their identity", () => {
  const { services, slices, read, computation } = given();
  services.set("default/a", aService("a")).set("default/b", aService("b"));
  const before = computation.updateAll();
  read.length = 0;
  slices.set("default/b", [aSlice([anEndpoint("10.0.0.1")])]);

  const after = computation.update(["default/b"]);

  assert.deepEqual(read, ["default/b"]);
  assert.equal(after.servicePorts.get("default/a:/TCP/4"), before.servicePorts.get("default/a:/TCP/4"));
  assert.equal(after.servicePorts.get("default/b:/TCP/4")?.clusterEndpoints.length, 1);
  assert.equal(before.servicePorts.get("default/b:/TCP/4")?.clusterEndpoints.length, 0);
});

it("an update without an effect returns the same model", () => {
  const { services, computation } = given();
  services.set("default/a", aService("a", { ports: [{ port: 80 }, { name: "b", port: 81 }] }));
  const before = computation.updateAll();
  services.set("default/a", aService("a", { ports: [{ port: 80 }, { name: "b", port: 81 }] }, { labels: { some: "label" } }));

  assert.equal(computation.update(["default/a", "default/none"]), before);
  assert.equal(computation.updateAll(), before);
});

it("one changed port of a Service leaves the identity of the others", () => {
  const { services, computation } = given();
  services.set(
    "default/a",
    aService("a", {
      ports: [
        { name: "a", port: 80 },
        { name: "b", port: 81 },
      ],
    }),
  );
  const before = computation.updateAll();
  services.set(
    "default/a",
    aService("a", {
      ports: [
        { name: "a", port: 80 },
        { name: "c", port: 82 },
      ],
    }),
  );

  const after = computation.update(["default/a"]);

  assert.deepEqual([...after.servicePorts.keys()], ["default/a:a/TCP/4", "default/a:c/TCP/4"]);
  assert.equal(after.servicePorts.get("default/a:a/TCP/4"), before.servicePorts.get("default/a:a/TCP/4"));
});

it("deleted Services leave the model, with their health checks", () => {
  const { services, computation } = given();
  services.set("default/a", aService("a", { type: "LoadBalancer", externalTrafficPolicy: "Local", healthCheckNodePort: 31_000 }));
  assert.equal(computation.updateAll().healthChecks.length, 1);
  services.clear();

  const { servicePorts, healthChecks } = computation.updateAll();

  assert.deepEqual([servicePorts.size, healthChecks.length], [0, 0]);
});

it("a change of the node's zone applies to all Services", () => {
  const { services, slices, computation } = given();
  services.set("default/web", aService("web"));
  slices.set("default/web", [
    aSlice([
      anEndpoint("10.0.0.1", { hints: { forZones: [{ name: "a" }] } }),
      anEndpoint("10.0.0.2", { hints: { forZones: [{ name: "b" }] } }),
    ]),
  ]);
  const used = () => computation.model.servicePorts.get("default/web:/TCP/4")?.clusterEndpoints.map(({ address }) => address);

  computation.updateAll();
  assert.deepEqual(used(), ["10.0.0.1"]);
  computation.updateAll({ name: "here", zone: "b" });
  assert.deepEqual(used(), ["10.0.0.2"]);
});

it("a node announces the load balancer addresses of Services whose condition names it", () => {
  const { services, computation } = given();
  const balanced = (node: string) => {
    const service = aService("a", { type: "LoadBalancer" }, { ingress: [{ ip: "203.0.113.9", ipMode: "VIP" }] });
    return { ...service, status: { ...service.status, conditions: withAnnouncer(service, { node, nowMs: 0 }) } };
  };
  services.set("default/a", balanced("here"));
  assert.deepEqual(computation.updateAll().announcedIps, ["203.0.113.9"]);
  services.set("default/a", balanced("there"));
  assert.deepEqual(computation.update(["default/a"]).announcedIps, []);
});
