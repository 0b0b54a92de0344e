import { deepEqual, equal, match, ok } from "node:assert/strict";
import { once } from "node:events";
import { test } from "node:test";
import { connect as connectTls } from "node:tls";
import { endpointSlices } from "../api/discovery.k8s.io/v1/endpoint-slice.ts";
import type { Ingress, IngressClass } from "../api/generated/networking.k8s.io/v1.ts";
import { prometheusText } from "../base/metrics/prometheus-text.ts";
import { becomes } from "../testing/becomes.ts";
import { testServing } from "../testing/fixtures/certificates.ts";
import { ingress, IngressScene, NEEDS_ADDRESS, service, slice, startPod } from "./testing/ingress-scene.ts";

test(
  "an Ingress without a class is served by the default class, with address, events and metrics, while it exists",
  NEEDS_ADDRESS,
  async () => {
    const lines: string[] = [];
    {
      await using scene = await IngressScene.start(lines);
      const { cluster } = scene;
      const created = await cluster.get<IngressClass>("ingressclass/k8ts");
      equal(created.metadata.annotations?.["ingressclass.kubernetes.io/is-default-class"], "true");
      equal(await scene.answer("a.example"), "refused");

      const pod = scene.use(await startPod("web"));
      await cluster.apply([service("web"), slice("web", "web-1", pod.port), ingress("web", "a.example", "web")]);
      await becomes(() => scene.answer("a.example", "/x?y=z"), "200 web /x?y=z");
      match(await scene.answer("b.example"), /^404 /);
      const { http, https } = scene.controller.ports;
      const ports = [http, https].map((port) => ({ port, protocol: "TCP" }));
      const served = await cluster.until<Ingress>("ingress/web", (one) => one?.status?.loadBalancer?.ingress !== undefined);
      equal(served.spec?.ingressClassName, "k8ts");
      deepEqual(served.status?.loadBalancer, { ingress: [{ ip: "192.0.2.1", ports }] });

      // A bad one has no influence on the good one.
      await cluster.apply(ingress("worse", "a.example", "missing", { annotations: { "ingress.k8ts.io/retries": "many" } }));
      await becomes(
        async () => (await scene.eventsOf("worse")).toSorted(),
        [
          'InvalidAnnotation: Annotation ingress.k8ts.io/retries is ignored: expected an integer from 0 to 10, got "many"',
          "RouteConflict: The route of host a.example, path / belongs to the older Ingress default/web",
        ],
      );
      equal(await scene.fetch("a.example"), "200 web /");
      match(prometheusText(scene.controller.metrics()), /^k8ts_ingress_requests_total\{ingress="default\/web",code="200"\} [1-9]/m);

      await cluster.delete("ingress/worse");
      await cluster.delete("ingress/web");
      await becomes(() => scene.answer("a.example"), "refused");
    }
    const logged = lines.map(
      (line) => JSON.parse(line) as { readonly host: string; readonly status: number; readonly path: string; readonly ingress?: string },
    );
    ok(
      logged.some(
        ({ host, status, path, ingress: name }) => host === "a.example" && status === 200 && path === "/x?y=z" && name === "default/web",
      ),
    );
    ok(logged.some(({ host, status }) => host === "b.example" && status === 404));
  },
);

test("a rolling update under load loses no request: 2,000 requests while every Pod is replaced", NEEDS_ADDRESS, async () => {
  await using scene = await IngressScene.start();
  const { cluster } = scene;
  const pods = [scene.use(await startPod("old-1", 1)), scene.use(await startPod("old-2", 1))];
  await cluster.apply([
    service("web"),
    ...pods.map((pod, index) => slice("web", `web-${index}`, pod.port)),
    ingress("web", "a.example", "web"),
  ]);
  await becomes(async () => (await scene.answer("a.example")).slice(0, 3), "200");

  const answers = new Map<string, number>();
  const unanswered = new Set<Promise<string>>();
  let left = 2_000;
  const client = async (method: string) => {
    while (left-- > 0) {
      const sent = scene.fetch("a.example", "/", { method, body: method === "POST" ? "body" : "" });
      unanswered.add(sent);
      const answer = (await sent).split(" ").slice(0, 2).join(" ");
      unanswered.delete(sent);
      answers.set(answer, (answers.get(answer) ?? 0) + 1);
    }
  };
  const clients = Array.from({ length: 8 }, (_, index) => client(index === 0 ? "POST" : "GET"));
  for (const [index, pod] of pods.entries()) {
    // As a Deployment does it: a new Pod becomes ready, an old one terminates, finishes its requests and exits.
    const fresh = scene.use(await startPod(`new-${index}`, 1));
    await cluster.apply(slice("web", `new-${index}`, fresh.port));
    await becomes(async () => scene.endpointCount(), 3);
    await cluster.apply(slice("web", `web-${index}`, pod.port, { ready: false, serving: true, terminating: true }));
    await becomes(async () => scene.endpointCount(), 2);
    // Its last requests: a POST that the program has not read yet when it closes its connections could not be repeated.
    await Promise.all(unanswered);
    pod.server.close();
    pod.server.closeIdleConnections();
    await cluster.client.delete(endpointSlices, { namespace: "default", name: `web-${index}` });
  }
  await Promise.all(clients);
  deepEqual(
    [...answers.keys()].filter((answer) => !answer.startsWith("200 ")),
    [],
  );
  equal(
    [...answers.values()].reduce((sum, count) => sum + count, 0),
    2_000,
  );
});

test("certificates come from Secrets, are exchanged with them, and are self-signed otherwise", NEEDS_ADDRESS, async () => {
  await using scene = await IngressScene.start();
  const { cluster } = scene;
  const secret = ({ certificate, key }: { readonly certificate: string; readonly key: string }) => ({
    apiVersion: "v1",
    kind: "Secret",
    metadata: { name: "web-tls" },
    type: "kubernetes.io/tls",
    stringData: { "tls.crt": certificate, "tls.key": key },
  });
  const [first, second] = [testServing(), testServing()];
  const presented = async () => {
    const socket = connectTls({
      host: "127.0.0.1",
      port: scene.controller.ports.https,
      servername: "a.example",
      rejectUnauthorized: false,
    });
    await once(socket, "secureConnect");
    const raw = socket.getPeerCertificate().raw.toString("base64");
    socket.destroy();
    const found = Object.entries({ first, second }).find(([, { certificate }]) =>
      certificate.replaceAll(/-----[^-]*-----|\s/g, "").startsWith(raw),
    );
    return found?.[0] ?? "self-signed";
  };
  const spec = { tls: [{ hosts: ["a.example"], secretName: "web-tls" }] };
  await cluster.apply([service("web"), ingress("web", "a.example", "web", { spec })]);
  await becomes(() => presented().catch(String), "self-signed");
  await becomes(
    () => scene.eventsOf("web"),
    ["CertificateUnusable: Secret default/web-tls does not exist; its hosts get a self-signed certificate"],
  );
  equal((await scene.fetch("a.example")).slice(0, 3), "308");

  await cluster.apply(secret(first));
  await becomes(presented, "first");
  await cluster.apply(secret(second));
  await becomes(presented, "second");
  await cluster.apply(secret({ certificate: first.certificate, key: second.key }));
  await becomes(presented, "self-signed");
  await becomes(async () => (await scene.eventsOf("web")).length, 2);
});
