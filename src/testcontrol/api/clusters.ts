/** Routes of clusters: the main one, its forks, and resets. */
import { readFile } from "node:fs/promises";
import { realClock } from "../../host/real-clock.ts";
import type { ControlledCluster } from "../controlled-cluster.ts";
import type { Fields } from "./fields.ts";
import { nameField } from "./names.ts";
import { defineRoute } from "./route.ts";

/** Seeds are 32-bit numbers. */
const SEED_MAX = 2 ** 32 - 1;

const CLUSTER = {
  name: { type: "string", required: true, doc: `"main", or the name of a fork.` },
  server: { type: "string", required: true, doc: "URL of its API server. It stays the same after resets." },
  kubeconfigFile: { type: "string", required: true, doc: "Path of the administrator's kubeconfig." },
  kubeconfig: { type: "string", required: true, doc: "Contents of that file, for clients that read YAML." },
  certificateAuthority: { type: "string", required: true, doc: "PEM: the certificate authority of the server." },
  clientCertificate: { type: "string", required: true, doc: "PEM: the administrator's certificate." },
  clientKey: { type: "string", required: true, doc: "PEM, PKCS #8: its private key." },
  generation: { type: "integer", min: 1, max: Number.MAX_SAFE_INTEGER, required: true, doc: "1, and one more after each reset." },
  time: { type: "string", values: ["real", "virtual"], required: true, doc: "Whether time passes by itself." },
  now: { type: "string", required: true, doc: "Its time, RFC 3339 with milliseconds." },
} as const satisfies Fields;

export const clusterRoutes = [
  defineRoute({
    method: "GET",
    path: "/v1/clusters",
    operation: "listClusters",
    summary: "Lists the main cluster and its forks.",
    answer: { clusters: { type: "list", fields: CLUSTER, required: true, doc: "The main cluster first." } },
    handle: async ({ control }) => ({ clusters: await Promise.all(control.clusters.map(describe)) }),
  }),
  defineRoute({
    method: "GET",
    path: "/v1/clusters/{cluster}",
    operation: "getCluster",
    summary: "Returns address, credentials and time of a cluster.",
    answer: CLUSTER,
    handle: ({ control, parameters }) => describe(control.cluster(parameters.cluster)),
  }),
  defineRoute({
    method: "POST",
    path: "/v1/clusters",
    operation: "forkCluster",
    summary: "Forks a cluster: an independent copy at another port, with the same state, time and certificates.",
    body: {
      name: { ...nameField, doc: "Name of the fork. Default: fork-1, fork-2, …" },
      of: { type: "string", doc: "The cluster to copy. Default: main." },
      snapshot: { type: "string", doc: "Starts with this snapshot instead of the current state." },
    },
    answer: CLUSTER,
    handle: async ({ control, body }) => describe(await control.fork(body)),
  }),
  defineRoute({
    method: "DELETE",
    path: "/v1/clusters/{cluster}",
    operation: "removeFork",
    summary: "Stops and removes a fork.",
    answer: {},
    async handle({ control, parameters }) {
      await control.removeFork(parameters.cluster);
      return {};
    },
  }),
  defineRoute({
    method: "POST",
    path: "/v1/clusters/{cluster}/reset",
    operation: "resetCluster",
    summary: "Replaces the state by that of a snapshot. Address, certificates and kubeconfig stay; watches end; faults are cleared.",
    body: {
      snapshot: { type: "string", doc: "Name of the snapshot. Default: empty, the state after the start." },
      seed: { type: "integer", min: 0, max: SEED_MAX, doc: "Seed of all randomness from here on. Then nothing is prepared ahead." },
    },
    answer: {
      generation: CLUSTER.generation,
      resourceVersion: { type: "string", required: true, doc: "Revision after the reset; all earlier ones are expired." },
      wasPrepared: { type: "boolean", required: true, doc: "True if the components had started ahead: the reset waited for nothing." },
      tookMs: { type: "number", min: 0, max: Number.MAX_SAFE_INTEGER, required: true, doc: "Duration in milliseconds." },
    },
    async handle({ control, parameters, body }) {
      const startedMs = realClock.monotonic();
      const { generation, revision, wasPrepared } = await control.reset(parameters.cluster, body);
      const tookMs = Math.round((realClock.monotonic() - startedMs) * 100) / 100;
      return { generation, resourceVersion: String(revision), wasPrepared, tookMs };
    },
  }),
];

async function describe({ name, door: { part }, generation, current: { clock, driver } }: ControlledCluster): Promise<object> {
  const { certificate, key } = part.admin;
  return {
    ...{ name, server: part.url, kubeconfigFile: part.kubeconfig, kubeconfig: await readFile(part.kubeconfig, "utf8") },
    ...{ certificateAuthority: part.authority, clientCertificate: certificate, clientKey: key, generation },
    time: driver === undefined ? "real" : "virtual",
    now: new Date(clock.now()).toISOString(),
  };
}
