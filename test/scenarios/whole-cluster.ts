/** All controllers together, in the life of an application: writes of one trigger the others. */
import { deployments } from "../../src/api/apps/v1/deployment.ts";
import { namespaces } from "../../src/api/core/v1/namespace.ts";
import { all } from "../../src/controllers/all.ts";
import { TEST_SETTINGS } from "../../src/testing/fixtures/controller-settings.ts";
import { namespace, POD_SPEC, untilAllRun, type NamedScenario } from "./scenario.ts";

const LABELS = { app: "web" };
const WEB = { namespace: "shop", name: "web" };

export const wholeClusterScenarios: readonly NamedScenario[] = [
  {
    it: "an application is deployed behind a Service and scaled, then its Deployment and its namespace are deleted",
    controllers: () => all(TEST_SETTINGS),
    objects: [
      namespace("shop"),
      namespace("other"),
      { apiVersion: "v1", kind: "Service", metadata: WEB, spec: { selector: LABELS, ports: [{ port: 80 }] } },
      { apiVersion: "policy/v1", kind: "PodDisruptionBudget", metadata: WEB, spec: { minAvailable: 1, selector: { matchLabels: LABELS } } },
      { apiVersion: "v1", kind: "ResourceQuota", metadata: WEB, spec: { hard: { pods: "10" } } },
      {
        apiVersion: "apps/v1",
        kind: "Deployment",
        metadata: WEB,
        spec: { replicas: 2, selector: { matchLabels: LABELS }, template: { metadata: { labels: LABELS }, spec: POD_SPEC } },
      },
      { apiVersion: "v1", kind: "ConfigMap", metadata: { namespace: "other", name: "stays" } },
    ],
    // All kinds are watched: it takes a while until all events have arrived over streams that are cut.
    restMs: 120_000,
    steps: [
      ...untilAllRun(1),
      async ({ client }) => void (await client.patch(deployments, WEB, { type: "merge", value: { spec: { replicas: 3 } } })),
      ...untilAllRun(2),
      async ({ client }) => void (await client.delete(deployments, WEB, { propagationPolicy: "Foreground" })),
      ...untilAllRun(2),
      async ({ client }) => void (await client.delete(namespaces, { name: "shop" })),
      ...untilAllRun(1),
    ],
  },
];
