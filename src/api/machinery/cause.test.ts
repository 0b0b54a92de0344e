import { deepEqual, equal, match } from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { causedBy, formatCause, parseCause, type Cause } from "./cause.ts";

test("formatCause yields a single header line for keys with any characters", () => {
  equal(
    formatCause({ controller: "deployment-controller", key: "default/web", revision: "42" }),
    "controller=deployment-controller,key=default%2Fweb,revision=42",
  );
  equal(
    formatCause({ controller: "kubelet", key: "default/web", reason: "Started", object: "pods default/web", revision: "42" }),
    "controller=kubelet,key=default%2Fweb,reason=Started,object=pods%20default%2Fweb,revision=42",
  );
  equal(formatCause({ controller: "a", key: "nodes ä,=" }), "controller=a,key=nodes%20%C3%A4%2C%3D");
});

test("causedBy names the object with its resource and the revision by which the component decided", () => {
  const pods = { plural: "pods", storage: { group: "" } };
  const pod = { apiVersion: "v1", kind: "Pod", metadata: { namespace: "default", name: "web", resourceVersion: "7" } };
  deepEqual(causedBy({ controller: "kubelet", reason: "Started", kind: pods, object: pod }), {
    controller: "kubelet",
    key: "default/web",
    reason: "Started",
    object: "pods default/web",
    revision: "7",
  });
  const deployments = { plural: "deployments", storage: { group: "apps" } };
  const unread = { apiVersion: "apps/v1", kind: "Deployment", metadata: { name: "web" } };
  deepEqual(causedBy({ controller: "c", reason: "r", kind: deployments, object: unread }), {
    controller: "c",
    key: "web",
    reason: "r",
    object: "deployments.apps web",
  });
});

test("a formatted cause parses to an equal cause", () => {
  const text = fc.string({ unit: "grapheme" });
  const cause = fc.record(
    { controller: text, key: text, reason: text, object: text, revision: text },
    { requiredKeys: ["controller", "key"], noNullPrototype: true },
  );
  fc.assert(
    fc.property(cause, (given: Cause) => {
      const header = formatCause(given);
      match(header, /^[\x21-\x7e]*$/);
      deepEqual(parseCause(header), given);
    }),
  );
});

for (const text of ["", "controller=a", "key=a,controller=b", "controller=a,key=b,more=c", "controller=%zz,key=b", "controller=a,key=b,"]) {
  test(`parseCause returns undefined for ${JSON.stringify(text)} and does not throw`, () => {
    equal(parseCause(text), undefined);
  });
}
