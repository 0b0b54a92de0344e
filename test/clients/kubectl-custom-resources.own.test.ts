/** The real kubectl with custom resources: definitions in the style of large operators, tables, explain, two managers, messages. */
import { equal, match } from "node:assert/strict";
import { after, test } from "node:test";
import { CERTIFICATES, GATEWAYS, monitors } from "../../src/apiserver/customresources/testing/operators.ts";
import type { JsonObject } from "../../src/api/machinery/object.ts";
import { startTestApiServer } from "../../src/testing/servers/api-server.ts";
import { needs } from "../../src/testing/needs.ts";

const server = await startTestApiServer();
after(() => server.close());

function certificate(name: string, spec: JsonObject = {}): JsonObject {
  const given = { secretName: "web-tls", issuerRef: { name: "ca" }, dnsNames: ["example.com"], ...spec };
  return { apiVersion: "certificates.example.com/v1", kind: "Certificate", metadata: { name }, spec: given };
}

const ESTABLISHED = "--for=condition=established --timeout=30s";

test("kubectl applies a definition and its objects twice, and shows them in tables", needs("kubectl"), async () => {
  const kubectl = await server.inNamespace("certificates");
  const input = JSON.stringify(CERTIFICATES);

  equal(
    await kubectl("apply -f -", { input }),
    "customresourcedefinition.apiextensions.k8s.io/certificates.certificates.example.com created\n",
  );
  await kubectl(`wait crd/certificates.certificates.example.com ${ESTABLISHED}`);
  equal(
    await kubectl("apply -f -", { input }),
    "customresourcedefinition.apiextensions.k8s.io/certificates.certificates.example.com unchanged\n",
  );
  equal(await kubectl("apply -f -", { input: certificate("web") }), "certificate.certificates.example.com/web created\n");
  equal(await kubectl("apply -f -", { input: certificate("web") }), "certificate.certificates.example.com/web unchanged\n");

  match(await kubectl("get cert"), /^NAME +READY +SECRET +AGE\nweb +web-tls +\S+\n$/);
  equal(await kubectl("get cert web -o jsonpath={.spec.issuerRef.kind}/{.spec.duration}"), "Issuer/2160h");
  match(await kubectl("explain cert.spec.secretName"), /FIELD: secretName <string>[^]*Secret that the certificate is stored in/);
  match(await kubectl("explain cert.metadata"), /Standard object's metadata/);
});

test("kubectl prints the messages of validation and of rules", needs("kubectl"), async () => {
  const kubectl = await server.inNamespace("messages");
  await kubectl("apply -f -", { input: JSON.stringify(CERTIFICATES) });
  await kubectl(`wait crd/certificates.certificates.example.com ${ESTABLISHED}`);
  await kubectl("apply -f -", { input: certificate("web") });
  const refusal = async (object: JsonObject) => (await kubectl.run("apply -f -", { input: object })).stderr;

  match(
    await refusal(certificate("a", { privateKey: { algorithm: "DSA" } })),
    /Unsupported value: "DSA": supported values: "RSA", "ECDSA", "Ed25519"/,
  );
  match(await refusal(certificate("a", { foo: 1 })), /unknown field "spec.foo"/);
  match(await refusal(certificate("a", { issuerRef: {} })), /spec.issuerRef.name: Required value/);
  match(await refusal(certificate("web", { secretName: "other" })), /spec.secretName: Invalid value: secretName is immutable/);
});

test("two managers own different items of a keyed list", needs("kubectl"), async () => {
  const kubectl = await server.inNamespace("gateways");
  await kubectl("apply -f -", { input: JSON.stringify(GATEWAYS) });
  await kubectl(`wait crd/gateways.gateway.example.com ${ESTABLISHED}`);
  const gateway = (...listeners: readonly JsonObject[]): JsonObject => ({
    apiVersion: "gateway.example.com/v1",
    kind: "Gateway",
    metadata: { name: "edge" },
    spec: { className: "a", listeners },
  });
  const http = { name: "http", port: 80, protocol: "HTTP" };
  const https = { name: "https", port: 443, protocol: "HTTPS", tls: { secretName: "s" } };

  await kubectl("apply --server-side --field-manager=one -f -", { input: gateway(http) });
  await kubectl("apply --server-side --field-manager=two -f -", { input: gateway(https) });
  const names = await kubectl("get gtw edge -o jsonpath={.spec.listeners[*].name}");
  const conflict = await kubectl.run("apply --server-side --field-manager=two -f -", { input: gateway({ ...http, port: 81 }) });
  const invalid = await kubectl.run("apply --server-side --field-manager=one -f -", {
    input: gateway({ ...http, tls: { secretName: "s" } }),
  });

  equal(names, "http https");
  match(conflict.stderr, /conflict with "one": \.spec\.listeners\[name="http"\]\.port/);
  match(invalid.stderr, /spec.listeners: Invalid value: tls must not be specified for protocol HTTP/);
});

test("a definition with several hundred fields is explained, applied and deleted with its objects", needs("kubectl"), async () => {
  const kubectl = await server.inNamespace("monitors");
  await kubectl("create -f -", { input: JSON.stringify(monitors()) });
  await kubectl(`wait crd/monitors.monitoring.example.com ${ESTABLISHED}`);
  const container = { name: "server", image: "example/server:1", ports: [{ containerPort: 9090 }], env: [{ name: "A", value: "1" }] };
  const monitor = {
    apiVersion: "monitoring.example.com/v1",
    kind: "Monitor",
    metadata: { name: "main" },
    spec: { containers: [container] },
  };

  await kubectl("apply -f -", { input: monitor });

  equal(await kubectl("get monitors main -o jsonpath={.spec.replicas}/{.spec.containers[0].ports[0].protocol}"), "1/TCP");
  match(await kubectl("explain monitors.spec.web.tls.tls7"), /Setting 7 of tls/);
  await kubectl("delete crd monitors.monitoring.example.com --timeout=30s");
  // The first is kubectl's own answer; it gets the second one while it still has the old discovery document.
  match(
    (await kubectl.run("get monitors")).stderr,
    /the server doesn't have a resource type "monitors"|the server could not find the requested resource/,
  );
});
