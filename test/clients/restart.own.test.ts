/** The server restarts on the same files and port: watching clients resume and miss nothing. */
import { CoreV1Api, KubeConfig, makeInformer, Watch, type V1ConfigMap } from "@kubernetes/client-node";
import { deepEqual, equal } from "node:assert/strict";
import { join } from "node:path";
import { test } from "node:test";
import { makeTemporaryDirectory } from "../../src/host/files/private-files.ts";
import { startTestApiServer, type TestApiServer } from "../../src/testing/servers/api-server.ts";
import { freePort } from "../../src/testing/servers/free-ports.ts";
import { needs } from "../../src/testing/needs.ts";
import { Arrivals } from "./arrivals.ts";

/** On the files in `directory`, and the port of the previous start. */
async function start(directory: string, before?: TestApiServer): Promise<TestApiServer> {
  const securePort = before === undefined ? await freePort() : Number(new URL(before.url).port);
  return startTestApiServer({
    store: { driver: "embedded", dataDirectory: join(directory, "data") },
    serving: { securePort, certificateDirectory: join(directory, "pki"), kubeconfig: join(directory, "kubeconfig") },
  });
}

function configMap(name: string): V1ConfigMap {
  return { metadata: { name } };
}

const namespace = "default";
const path = `/api/v1/namespaces/${namespace}/configmaps`;

test("an informer resumes after a server restart and receives missed changes without relisting", async () => {
  await using directory = await makeTemporaryDirectory("k8ts-restart-");
  const first = await start(directory.path);
  const config = new KubeConfig();
  config.loadFromFile(first.kubeconfig);
  const core = config.makeApiClient(CoreV1Api);
  await core.createNamespacedConfigMap({ namespace, body: configMap("before") });
  let lists = 0;
  const informer = makeInformer(config, path, () => ((lists += 1), core.listNamespacedConfigMap({ namespace })));
  const events = new Arrivals<string>();
  const errors = new Arrivals<unknown>();
  for (const event of ["add", "delete"] as const) informer.on(event, ({ metadata }) => events.push(`${event} ${metadata?.name}`));
  informer.on("error", (error: unknown) => errors.push(error));
  await informer.start();
  equal(await events.next(), "add before");

  await first.close();
  await errors.next();
  await using second = await start(directory.path, first);
  await core.createNamespacedConfigMap({ namespace, body: configMap("meanwhile") });
  await core.deleteNamespacedConfigMap({ namespace, name: "before" });
  await informer.start();
  await core.createNamespacedConfigMap({ namespace, body: configMap("after") });

  deepEqual(await events.take(3), ["add meanwhile", "delete before", "add after"]);
  deepEqual([lists, second.url], [1, first.url]);
  await informer.stop();
});

test("a watch ends when the server stops, and can be resumed from the last resource version", async () => {
  await using directory = await makeTemporaryDirectory("k8ts-restart-");
  const first = await start(directory.path);
  const config = new KubeConfig();
  config.loadFromFile(first.kubeconfig);
  const core = config.makeApiClient(CoreV1Api);
  const made = await core.createNamespacedConfigMap({ namespace, body: configMap("one") });
  const events = new Arrivals<V1ConfigMap>();
  const ended = new Arrivals<unknown>();
  const watchFrom = (resourceVersion: string) =>
    new Watch(config).watch(
      path,
      { resourceVersion },
      (_type: string, object: V1ConfigMap) => events.push(object),
      (error: unknown) => ended.push(error ?? "closed"),
    );
  await watchFrom(made.metadata?.resourceVersion ?? "");
  await core.createNamespacedConfigMap({ namespace, body: configMap("two") });
  const seen = await events.next();

  await first.close();
  equal(await ended.next(), "closed");
  await using _second = await start(directory.path, first);
  await core.createNamespacedConfigMap({ namespace, body: configMap("three") });
  const again = await watchFrom(seen.metadata?.resourceVersion ?? "");

  deepEqual([seen.metadata?.name, (await events.next()).metadata?.name], ["two", "three"]);
  again.abort();
});

test("kubectl finds all objects after a server restart", needs("kubectl"), async () => {
  await using directory = await makeTemporaryDirectory("k8ts-restart-");
  const first = await start(directory.path);
  await first.kubectl("create deployment web --image=example/web");
  await first.kubectl("create service nodeport web --tcp=80 --node-port=30300");
  const before = await first.kubectl("get deployment/web service/web -o yaml --show-managed-fields");

  await first.close();
  await using second = await start(directory.path, first);

  equal(await second.kubectl("get deployment/web service/web -o yaml --show-managed-fields"), before);
  equal(
    await second.kubectl.fails("create service nodeport other --tcp=80 --node-port=30300"),
    `error: failed to create NodePort service: Service "other" is invalid: spec.ports[0].nodePort: Invalid value: 30300: provided port is already allocated\n`,
  );
});
