import assert from "node:assert/strict";
import { test } from "node:test";
import { onlyPlugins } from "../../testing/admission.ts";
import { startServer, type StartedServer } from "../../testing/server.ts";

const CLASSES = "/apis/networking.k8s.io/v1/ingressclasses";
const INGRESSES = "/apis/networking.k8s.io/v1/namespaces/default/ingresses";

async function addClass(server: StartedServer, name: string, isDefault: string): Promise<void> {
  const annotations = { "ingressclass.kubernetes.io/is-default-class": isDefault };
  const { code } = await server.call("POST", CLASSES, { metadata: { name, annotations }, spec: { controller: "x/y" } });
  assert.equal(code, 201);
}

async function classOf(server: StartedServer, name: string, spec: object = {}, annotations: object = {}): Promise<unknown> {
  const defaultBackend = { service: { name: "s", port: { number: 80 } } };
  const { body } = await server.call("POST", INGRESSES, {
    metadata: { name, annotations: annotations as never },
    spec: { defaultBackend, ...spec },
  });
  return body.spec.ingressClassName;
}

test("an Ingress without a class gets the newest default class; a class set by field or legacy annotation is kept", async () => {
  await using server = await startServer({ config: { admission: onlyPlugins("DefaultIngressClass") } });

  assert.equal(await classOf(server, "a"), undefined);
  await addClass(server, "none", "false");
  await addClass(server, "old", "true");
  await server.clock.advance(1_000);
  await addClass(server, "young", "true");
  assert.equal(await classOf(server, "b"), "young");
  assert.equal(await classOf(server, "c", { ingressClassName: "own" }), "own");
  assert.equal(await classOf(server, "d", {}, { "kubernetes.io/ingress.class": "own" }), undefined);
  await server.call("DELETE", `${CLASSES}/young`);
  assert.equal(await classOf(server, "e"), "old");
});
