import assert from "node:assert/strict";
import { test } from "node:test";
import { parseDescriptions } from "./descriptions.ts";
import { descriptionData } from "./generated/descriptions.ts";
import { schemas } from "./schemas.ts";

const CORE = "io.k8s.api.core.v1";
const descriptions = parseDescriptions(descriptionData);

test("types and fields have descriptions", () => {
  assert.match(descriptions.ofType(`${CORE}.Pod`)?.description ?? "", /^Pod is a collection of containers/);
  assert.match(descriptions.ofField(`${CORE}.PodSpec`, "containers"), /^List of containers belonging to the pod/);
});

test("the fields of an inlined struct are described in the enclosing type", () => {
  assert.match(descriptions.ofField(`${CORE}.Volume`, "emptyDir"), /^emptyDir represents a temporary directory/);
});

test("apiVersion and kind of a kind have the shared description, and elsewhere their own", () => {
  assert.match(descriptions.ofField(`${CORE}.Pod`, "kind"), /^Kind is a string value representing the REST resource/);
  assert.equal(descriptions.ofField(`${CORE}.Pod`, "kind"), descriptions.ofField(`${CORE}.Service`, "kind"));
  assert.match(descriptions.ofField(`${CORE}.ObjectReference`, "kind"), /^Kind of the referent/);
});

test("asterisks and comment ends in a description are kept", () => {
  const text = descriptions.ofField("io.k8s.api.authorization.v1.ResourceRule", "resources");

  assert.ok(text.includes('"*" means all') && text.includes('"*/foo"'), text);
});

test("the values of an enumeration are described", () => {
  const lines = descriptions.ofField(`${CORE}.ContainerPort`, "protocol").split("\n");

  assert.deepEqual(lines.slice(-4), [
    "Possible enum values:",
    ' - `"SCTP"` is the SCTP protocol.',
    ' - `"TCP"` is the TCP protocol.',
    ' - `"UDP"` is the UDP protocol.',
  ]);
});

test("unknown types and fields have no description", () => {
  assert.equal(descriptions.ofType(`${CORE}.Nothing`), undefined);
  assert.equal(descriptions.ofField(`${CORE}.Pod`, "constructor"), "");
  assert.equal(descriptions.ofField(`${CORE}.Nothing`, "name"), "");
});

test("a union names its discriminator", () => {
  assert.deepEqual(descriptions.ofType("io.k8s.api.flowcontrol.v1.Subject")?.union, {
    discriminator: "kind",
    members: ["user", "group", "serviceAccount"],
  });
});

test("every described field exists in its type", () => {
  for (const name of schemas.names()) {
    const schema = schemas.get(name);
    const described = Object.keys(descriptions.ofType(name)?.fields ?? {});
    const fields = schema?.type === "object" ? schema.fields : new Map();
    assert.deepEqual(
      described.filter((field) => !fields.has(field)),
      [],
      name,
    );
  }
});
