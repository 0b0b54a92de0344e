/** A node's volumes against a whole API server, over HTTPS and with only a node's permissions. */
import assert from "node:assert/strict";
import { once } from "node:events";
import { watch } from "node:fs";
import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { test } from "node:test";
import { configMaps } from "../../src/api/core/v1/config-map.ts";
import { pods } from "../../src/api/core/v1/pod.ts";
import { serviceAccounts } from "../../src/api/core/v1/service-account.ts";
import { nodeIdentity } from "../../src/api/identities.ts";
import { Disposables } from "../../src/base/disposables.ts";
import { silentLogger } from "../../src/base/logger.ts";
import type { Client, ResourceKind } from "../../src/client/client.ts";
import { httpsTransport } from "../../src/client/https/https-transport.ts";
import { loadKubeconfig } from "../../src/client/kubeconfig/load-kubeconfig.ts";
import { createInformers } from "../../src/client/informer/informers.ts";
import { createClient } from "../../src/client/rest-client.ts";
import { realClock } from "../../src/host/real-clock.ts";
import { realRandom } from "../../src/host/real-random.ts";
import { startPodVolumes } from "../../src/kubelet/machine/volumes/pod-volumes-on-disk.ts";
import { startReferences } from "../../src/kubelet/references/object-references.ts";
import { startServiceAccountTokens } from "../../src/kubelet/references/service-account-tokens.ts";
import { startTestApiServer } from "../../src/testing/servers/api-server.ts";
import { needs } from "../../src/testing/needs.ts";

const CONTROLLERS = ["serviceaccount-controller", "root-ca-certificate-publisher-controller", "clusterrole-aggregation-controller"];
const COMMON = { clock: realClock, log: silentLogger };
const DEADLINE_MS = 20_000;

test(
  "a node mounts its Pods' API volumes, updates them on changes, and provides the Pod's service account token",
  { ...needs("tmpfs") },
  async () => {
    await using owned = new Disposables();
    const server = owned.use(await startTestApiServer({ controllers: CONTROLLERS }));
    const config = await loadKubeconfig({ path: server.kubeconfig, environment: {}, homeDirectory: "/none", readFile });
    const administrator = createClient(owned.use(httpsTransport(config, { ...COMMON, userAgent: "test" })));
    const { name: user, groups } = nodeIdentity("n1");
    const impersonate = { user, groups, extra: new Map<string, readonly string[]>() };
    const transport = owned.use(httpsTransport({ ...config, impersonate }, { ...COMMON, userAgent: "kubelet" }));
    const [client, random] = [createClient(transport), realRandom()];
    const informers = owned.use(createInformers({ transport, random, ...COMMON }));
    const references = owned.use(startReferences({ client, informers, random, ...COMMON }));
    const tokens = owned.use(startServiceAccountTokens({ client, random, ...COMMON }));
    const nodeAllocatable = () => ({ memory: "64Mi" });
    const rootDirectory = join(server.directory, "kubelet");
    const volumes = owned.use(await startPodVolumes({ rootDirectory, nodeName: "n1", references, tokens, nodeAllocatable, ...COMMON }));
    await seen(administrator, serviceAccounts, "default");
    await seen(administrator, configMaps, "kube-root-ca.crt");
    const metadata = { name: "settings", namespace: "default" };
    const settings = await administrator.create(configMaps, { apiVersion: "v1", kind: "ConfigMap", metadata, data: { color: "blue" } });
    const pod = await administrator.create(pods, {
      apiVersion: "v1",
      kind: "Pod",
      metadata: { name: "web", namespace: "default" },
      spec: {
        nodeName: "n1",
        containers: [{ name: "main", image: "web:1", volumeMounts: [{ name: "settings", mountPath: "/settings" }] }],
        volumes: [{ name: "settings", configMap: { name: "settings" } }],
      },
    });
    const podUid = pod.metadata.uid ?? "";

    references.register(pod);
    const mounted = await volumes.mount(pod, AbortSignal.timeout(DEADLINE_MS));

    const access = [...mounted].find(([name]) => name.startsWith("kube-api-access-"))?.[1].path ?? "";
    assert.deepEqual((await readdir(access)).filter((name) => !name.startsWith("..")).toSorted(), ["ca.crt", "namespace", "token"]);
    const [, claims = ""] = (await readFile(join(access, "token"), "utf8")).split(".");
    const bound = JSON.parse(Buffer.from(claims, "base64url").toString()) as { "kubernetes.io": { pod: { uid: string } } };
    assert.equal(bound["kubernetes.io"].pod.uid, podUid);
    assert.match(await readFile(join(access, "ca.crt"), "utf8"), /BEGIN CERTIFICATE/);

    const shown = mounted.get("settings")?.path ?? "";
    assert.equal(await readFile(join(shown, "color"), "utf8"), "blue");
    const watcher = watch(shown);
    await administrator.update(configMaps, { ...settings, data: { color: "green" } });
    const signal = AbortSignal.timeout(DEADLINE_MS);
    // Subscribes before each check, so that no change is missed in between.
    for (let change = once(watcher, "change", { signal }); ; change = once(watcher, "change", { signal })) {
      change.catch(() => undefined); // The last one is not awaited.
      if ((await readFile(join(shown, "color"), "utf8")) === "green") break;
      await change;
    }
    watcher.close();

    references.unregister(podUid);
    await volumes.unmount(podUid);
    assert.deepEqual(await volumes.pods(), []);
  },
);

/** Resolves when one of this name exists. */
async function seen(client: Client, kind: ResourceKind, name: string): Promise<void> {
  const options = { namespace: "default", fieldSelector: `metadata.name=${name}` };
  await new Promise<void>((resolve, reject) => {
    const event = ({ type }: { readonly type: string }) => void (type === "ADDED" && resolve());
    const ended = () => reject(new Error(`Cannot wait for ${kind.plural} "${name}": the watch ended`));
    client
      .watch(
        kind,
        {
          ...options,
          sendInitialEvents: true,
          resourceVersionMatch: "NotOlderThan",
          allowWatchBookmarks: true,
          signal: AbortSignal.timeout(DEADLINE_MS),
        },
        { event, ended },
      )
      .catch(reject);
  });
}
