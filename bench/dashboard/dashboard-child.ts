/**
 * An API server on a memory store with the dashboard, TLS and any number of running Pods in its own process: nodes, Deployments with their
 * ReplicaSets, Services. There are no controllers and kubelets, which would need the processor that is measured; `change` writes what they
 * would write.
 */
import { all as resources } from "../../src/api/all.ts";
import { ADMINISTRATOR } from "../../src/api/identities.ts";
import type { JsonObject } from "../../src/api/machinery/object.ts";
import type { Transport } from "../../src/api/machinery/transport.ts";
import { schemas } from "../../src/api/schemas.ts";
import { startApiServer } from "../../src/apiserver/api-server.ts";
import { DEFAULT_API_SERVER_CONFIG } from "../../src/apiserver/framework/api-server-config.ts";
import { startHttpApi } from "../../src/apiserver/http/http-api.ts";
import { silentLogger } from "../../src/base/logger.ts";
import { readClientAuthorities, readIdentity } from "../../src/components/api-server/identity.ts";
import { dashboardAround } from "../../src/components/dashboard.ts";
import { DEFAULT_IDENTITY_CONFIG } from "../../src/config/identity-config.ts";
import { realClock } from "../../src/host/real-clock.ts";
import { realRandom } from "../../src/host/real-random.ts";
import { openMemoryStore } from "../../src/store/memory/memory-store.ts";
import { sharedPki } from "../../src/testing/fixtures/certificates.ts";
import { podManifest, podStatus } from "../apiserver/objects.ts";
import { collectGarbage, serve } from "../serve.ts";

export interface DashboardServer {
  readonly port: number;
  /** Of an administrator. */
  readonly token: string;
}

const NAMESPACES = 20;
const DEPLOYMENTS_PER_NAMESPACE = 5;
const PODS_PER_NODE = 100;
/** Requests in flight while the cluster is filled. */
const WRITERS = 64;

let transport: Transport | undefined;
let filled = 0;
let written = 0;

const tasks = {
  async start(_input: null): Promise<DashboardServer> {
    const pki = await sharedPki();
    const clientAuthorities = await readClientAuthorities(DEFAULT_IDENTITY_CONFIG, pki);
    const context = { pki, clientAuthorities, serverAuthority: pki.authority, log: silentLogger };
    const core = await startApiServer({
      ...{ store: openMemoryStore({ clock: realClock }), resources, schemas, clock: realClock, random: realRandom(), log: silentLogger },
      loadDescriptions: () => Promise.resolve({ ofType: () => undefined, ofField: () => "" }),
      identity: await readIdentity(DEFAULT_IDENTITY_CONFIG, context),
      config: DEFAULT_API_SERVER_CONFIG,
    });
    const { certificate, key } = pki.pair("apiserver");
    const exchange = dashboardAround({ clock: realClock, log: silentLogger }, () => undefined)(core.exchange);
    const http = await startHttpApi({ exchange, host: "127.0.0.1", port: 0, tls: { certificate, key }, log: silentLogger });
    transport = core.transport({ user: ADMINISTRATOR, userAgent: "bench" });
    await createFrame();
    return { port: http.port, token: await administratorToken() };
  },

  /** Adds nodes and running Pods until there are so many. */
  async fill({ pods }: { readonly pods: number }): Promise<void> {
    for (let node = Math.ceil(filled / PODS_PER_NODE); node < Math.ceil(pods / PODS_PER_NODE); node++) await createNode(node);
    const work = async () => {
      while (filled < pods) await createPod(filled++);
    };
    await Promise.all(Array.from({ length: WRITERS }, work));
    collectGarbage();
  },

  /** Writes the status of so many Pods, as kubelets do. */
  async change({ pods }: { readonly pods: number }): Promise<void> {
    for (let index = 0; index < pods; index++) await reportPod((written++ * 7919) % filled, written);
  },
};

interface Place {
  readonly namespace?: string;
  readonly name?: string;
  readonly subresource?: string;
}

function send(verb: "create" | "update", group: string, plural: string, object: JsonObject, place: Place = {}) {
  if (transport === undefined) throw new Error("Cannot write objects: the server is not started");
  return transport.request({ verb, group, version: "v1", plural, object, ...place });
}

const namespaceOf = (index: number) => `team-${String(index % NAMESPACES).padStart(2, "0")}`;
const appOf = (index: number) => `app-${Math.floor(index / NAMESPACES) % DEPLOYMENTS_PER_NAMESPACE}`;
const uidOf = (namespace: string, app: string) => `00000000-0000-4000-8000-${namespace.slice(-2)}000000000${app.slice(-1)}`;

/** Everything but nodes and Pods. */
async function createFrame(): Promise<void> {
  for (let index = 0; index < NAMESPACES; index++) {
    const namespace = namespaceOf(index);
    await send("create", "", "namespaces", { apiVersion: "v1", kind: "Namespace", metadata: { name: namespace } });
    await send(
      "create",
      "",
      "serviceaccounts",
      { apiVersion: "v1", kind: "ServiceAccount", metadata: { name: "default", namespace } },
      { namespace },
    );
    for (let deployment = 0; deployment < DEPLOYMENTS_PER_NAMESPACE; deployment++) await createApp(namespace, `app-${deployment}`);
  }
}

async function createApp(namespace: string, app: string): Promise<void> {
  const selector = { matchLabels: { app } };
  const template = { metadata: { labels: { app } }, spec: { containers: [{ name: "web", image: "web:1" }] } };
  const controller = { apiVersion: "apps/v1", kind: "Deployment", name: app, uid: uidOf(namespace, app), controller: true };
  const deployment = {
    apiVersion: "apps/v1",
    kind: "Deployment",
    metadata: { name: app, namespace },
    spec: { replicas: 1, selector, template },
  };
  const replicaSet = {
    ...{ apiVersion: "apps/v1", kind: "ReplicaSet", spec: { replicas: 1, selector, template } },
    metadata: { name: `${app}-5d78c9869d`, namespace, ownerReferences: [controller] },
  };
  const service = {
    apiVersion: "v1",
    kind: "Service",
    metadata: { name: app, namespace },
    spec: { selector: { app }, ports: [{ port: 80 }] },
  };
  await send("create", "apps", "deployments", deployment, { namespace });
  await send("create", "apps", "replicasets", replicaSet, { namespace });
  await send("create", "", "services", service, { namespace });
}

async function createNode(index: number): Promise<void> {
  const name = `node-${index}`;
  const node = { apiVersion: "v1", kind: "Node", metadata: { name } };
  const ready = { type: "Ready", status: "True", reason: "KubeletReady", message: "kubelet is posting ready status" };
  await send("create", "", "nodes", node);
  await send("update", "", "nodes", { ...node, status: { conditions: [ready] } }, { name, subresource: "status" });
}

/** As a controller creates it and a kubelet reports it: about 3 KB. */
async function createPod(index: number): Promise<void> {
  const { namespace, pod } = podAt(index);
  await send("create", "", "pods", pod, { namespace });
  await reportPod(index, 0);
}

async function reportPod(index: number, round: number): Promise<void> {
  const { namespace, name, pod } = podAt(index);
  await send("update", "", "pods", { ...pod, status: podStatus(round) as JsonObject }, { namespace, name, subresource: "status" });
}

function podAt(index: number): { readonly namespace: string; readonly name: string; readonly pod: JsonObject } {
  const [namespace, app] = [namespaceOf(index), appOf(index)];
  const { spec } = podManifest("", `node-${Math.floor(index / PODS_PER_NODE)}`) as { readonly spec: JsonObject };
  const owner = { apiVersion: "apps/v1", kind: "ReplicaSet", name: `${app}-5d78c9869d`, uid: uidOf(namespace, app), controller: true };
  const name = `${app}-5d78c9869d-${index.toString(36).padStart(5, "0")}`;
  const metadata = { name, namespace, labels: { app, "pod-template-hash": "5d78c9869d", tier: "front" }, ownerReferences: [owner] };
  return { namespace, name, pod: { apiVersion: "v1", kind: "Pod", metadata, spec: { ...spec, serviceAccountName: "default" } } };
}

async function administratorToken(): Promise<string> {
  const group = "rbac.authorization.k8s.io";
  const place = { namespace: "team-00", name: "default" };
  await send("create", group, "clusterrolebindings", {
    ...{ apiVersion: `${group}/v1`, kind: "ClusterRoleBinding", metadata: { name: "bench" } },
    roleRef: { apiGroup: group, kind: "ClusterRole", name: "cluster-admin" },
    subjects: [{ kind: "ServiceAccount", ...place }],
  });
  const request = { apiVersion: "authentication.k8s.io/v1", kind: "TokenRequest", metadata: {}, spec: { audiences: [] } };
  const answer = await send("create", "", "serviceaccounts", request, { ...place, subresource: "token" });
  if (answer.is !== "value") throw new Error("Cannot get a token: the response has none");
  return (answer.value as { readonly status: { readonly token: string } }).status.token;
}

export type DashboardTasks = typeof tasks;
serve(tasks);
