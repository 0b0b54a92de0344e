/** "`listen: true` gives an HTTPS address and a kubeconfig for kubectl and any client", whatever the cluster's time is. */
import { equal, match, notEqual, ok, rejects } from "node:assert/strict";
import { X509Certificate } from "node:crypto";
import { existsSync, statSync } from "node:fs";
import { test } from "node:test";
import { configMaps } from "../api/core/v1/config-map.ts";
import { silentLogger } from "../base/logger.ts";
import type { ConnectionConfig, Source } from "../client/kubeconfig/connection-config.ts";
import { httpsTransport } from "../client/https/https-transport.ts";
import { loadKubeconfig } from "../client/kubeconfig/load-kubeconfig.ts";
import { createClient } from "../client/rest-client.ts";
import { readWhole } from "../host/files/files.ts";
import { realClock } from "../host/real-clock.ts";
import { aConfigMap, aDeployment } from "../testing/clients/manifests.ts";
import { virtualClock } from "../testing/virtual-clock.ts";
import type { Cluster } from "./cluster.ts";
import { startCluster } from "./start-cluster.ts";
import { fixedPki } from "../pki/fixed-pki.ts";
import { isRolledOut } from "./conditions.ts";

const configOf = (cluster: Cluster): Promise<ConnectionConfig> =>
  loadKubeconfig({ environment: {}, readFile: readWhole, homeDirectory: "/", path: cluster.kubeconfig });

/** A client as another program has it: by the kubeconfig, over HTTPS, in real time. */
async function outsideOf(cluster: Cluster) {
  const transport = httpsTransport(await configOf(cluster), { clock: realClock, log: silentLogger, userAgent: "a-test" });
  return Object.assign(createClient(transport), { [Symbol.asyncDispose]: () => transport[Symbol.asyncDispose]() });
}

async function namesSeenFromOutside(cluster: Cluster): Promise<readonly string[]> {
  await using client = await outsideOf(cluster);
  const { items } = await client.list(configMaps, { namespace: "default" });
  return items.map(({ metadata }) => metadata.name);
}

function pem(source: Source | undefined): string {
  return source !== undefined && "text" in source ? source.text : "";
}

for (const clock of ["virtual", "real"] as const) {
  test(`under ${clock} time an external client is served at the cluster's own address, and the kubeconfig is removed with the cluster`, async () => {
    const cluster = await startCluster({ clock, listen: true });
    const { url, kubeconfig } = cluster;
    match(url, /^https:\/\/127\.0\.0\.1:\d+$/);
    equal(statSync(kubeconfig).mode & 0o777, 0o600);
    await cluster.apply(aConfigMap("inside"));
    {
      await using client = await outsideOf(cluster);
      await client.create(configMaps, { apiVersion: "v1", kind: "ConfigMap", metadata: { namespace: "default", name: "outside" } });
    }
    ok((await namesSeenFromOutside(cluster)).includes("inside"));
    equal((await cluster.get("configmap/outside")).metadata.name, "outside");
    await cluster.close();
    equal(existsSync(kubeconfig), false);
  });

  test(`with ${clock} time the keys of a listening cluster are random, and its certificates are valid today`, async () => {
    await using a = await startCluster({ clock, listen: true });
    await using b = await startCluster({ clock, listen: true });
    const known = fixedPki();
    const [mine, others] = await Promise.all([configOf(a), configOf(b)]);
    for (const config of [mine, others]) {
      const authority = new X509Certificate(pem(config.authority));
      notEqual(authority.publicKey.export({ type: "spki", format: "pem" }), publicKeyOf(known.authority));
      ok(new Date(authority.validFrom).getTime() < Date.now() && Date.now() < new Date(authority.validTo).getTime());
      notEqual(pem(config.credentials?.certificate?.key), known.pair("admin").key);
    }
    notEqual(pem(mine.authority), pem(others.authority));
  });
}

function publicKeyOf(certificate: string): string | Buffer {
  return new X509Certificate(certificate).publicKey.export({ type: "spki", format: "pem" });
}

test("certificates are valid at any virtual time", async () => {
  for (const year of [2021, 2045]) {
    const clock = virtualClock({ startMs: Date.UTC(year, 5, 1) });
    await using cluster = await startCluster({ nodes: 0, controllers: [], scheduler: false, clock, listen: true });
    await cluster.apply(aConfigMap("a"));
    ok((await namesSeenFromOutside(cluster)).includes("a"), String(year));
  }
});

test("a fork listens if its original does, at another port, with the same certificates", async () => {
  await using cluster = await startCluster({ listen: true, clock: "virtual" });
  await cluster.apply(aDeployment("web", { replicas: 1 }));
  await cluster.until("deployment/web", isRolledOut);
  await using fork = await cluster.fork();
  await fork.apply(aConfigMap("of-the-fork"));

  notEqual(fork.url, cluster.url);
  notEqual(fork.kubeconfig, cluster.kubeconfig);
  equal(pem((await configOf(fork)).authority), pem((await configOf(cluster)).authority));
  ok((await namesSeenFromOutside(fork)).includes("of-the-fork"));
  equal((await namesSeenFromOutside(cluster)).includes("of-the-fork"), false);
  await using silent = await cluster.fork({ listen: false });
  await rejects(async () => silent.url, /has no address/);
});

test("a fork can listen if its original does not, with random keys", async () => {
  await using cluster = await startCluster({ clock: "virtual" });
  await cluster.apply(aConfigMap("a"));
  await using fork = await cluster.fork({ listen: true });
  ok((await namesSeenFromOutside(fork)).includes("a"));
  notEqual(publicKeyOf(pem((await configOf(fork)).authority)), publicKeyOf(fixedPki().authority));
});
