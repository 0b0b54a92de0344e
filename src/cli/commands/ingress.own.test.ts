import { deepEqual, equal, match, rejects } from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { test } from "node:test";
import { becomes } from "../../testing/becomes.ts";
import { startTestApiServer } from "../../testing/servers/api-server.ts";
import { RunningCommand } from "../../testing/servers/running-command.ts";
import { ingress } from "./ingress.ts";

const CLASS = "/apis/networking.k8s.io/v1/ingressclasses/k8ts";
const INGRESSES = "/apis/networking.k8s.io/v1/namespaces/default/ingresses";

test("k8ts ingress serves Ingresses over HTTPS to the API server, publishes its address and writes an access log", async () => {
  await using server = await startTestApiServer();
  const ports = ["--ingress-http-port=0", "--ingress-https-port=0", "--bind-address=127.0.0.1"];
  const log = ["--ingress-access-log", `--access-log-dir=${server.directory}/log`];
  const running = new RunningCommand(ingress, `--kubeconfig=${server.kubeconfig}`, "--publish-address=192.0.2.7", ...ports, ...log);
  match(await running.says("ingress controller: "), /^HTTP on port \d+, HTTPS on port \d+ while Ingresses of class k8ts exist$/);
  equal((await server.ask("GET", CLASS)).code, 200);

  const backend = { service: { name: "web", port: { number: 80 } } };
  const metadata = { name: "web" };
  const created = await server.ask("POST", INGRESSES, {
    apiVersion: "networking.k8s.io/v1",
    kind: "Ingress",
    metadata,
    spec: { ingressClassName: "k8ts", defaultBackend: backend },
  });
  equal(created.code, 201);
  interface Shown {
    readonly status: {
      readonly loadBalancer: {
        readonly ingress?: readonly { readonly ip: string; readonly ports: readonly { readonly port: number }[] }[];
      };
    };
  }
  const published = async () => {
    const { status } = JSON.parse((await server.ask("GET", `${INGRESSES}/web`)).body) as Shown;
    return status.loadBalancer.ingress?.[0];
  };
  await becomes(async () => (await published())?.ip, "192.0.2.7");
  const url = `http://127.0.0.1:${(await published())?.ports[0]?.port}/`;
  equal((await fetch(url)).status, 503);
  // The ports are open now.
  match(running.lines.at(-1) ?? "", /^ingress controller: HTTP on port \d+, HTTPS on port \d+$/);

  await running.stop();
  await rejects(fetch(url));
  const lines = (await readFile(join(server.directory, "log", "access.log"), "utf8")).trim().split("\n");
  deepEqual(
    lines.map((line) => (JSON.parse(line) as { readonly status: number }).status),
    [503],
  );
});

test("k8ts ingress needs an address to publish", () => {
  const parsed = ingress.parse([], {});
  equal(parsed.ok, false);
});
