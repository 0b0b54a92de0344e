/** Scenarios of controllers that create pods from templates. */
import { deployments } from "../../src/api/apps/v1/deployment.ts";
import { pods } from "../../src/api/core/v1/pod.ts";
import { replicationControllers } from "../../src/api/core/v1/replication-controller.ts";
import { POD_SPEC, RUNNING, scenario, untilAllRun } from "./scenario.ts";

const LABELS = { app: "web" };
const TEMPLATE = { metadata: { labels: LABELS }, spec: POD_SPEC };
const WEB = { namespace: "default", name: "web" };

const deployment = (strategy: object) => ({
  apiVersion: "apps/v1",
  kind: "Deployment",
  metadata: WEB,
  spec: { replicas: 2, selector: { matchLabels: LABELS }, template: TEMPLATE, strategy, revisionHistoryLimit: 1 },
});

const image = (name: string) =>
  ({ type: "strategic", value: { spec: { template: { spec: { containers: [{ name: "main", image: name }] } } } } }) as const;

export const workloadScenarios = [
  scenario({
    it: "a Deployment rolls out, is scaled, rolls back and is cleaned up",
    tries: ["deployment-controller", "replicaset-controller"],
    objects: [deployment({ type: "RollingUpdate", rollingUpdate: { maxSurge: 1, maxUnavailable: 0 } })],
    restMs: 20_000,
    steps: [
      ...untilAllRun(1),
      async ({ client }) => void (await client.patch(deployments, WEB, image("web:2"))),
      ...untilAllRun(5),
      async ({ client }) => void (await client.patch(deployments, WEB, { type: "merge", value: { spec: { replicas: 3 } } })),
      async ({ client }) => void (await client.patch(deployments, WEB, image("web:1"))),
      ...untilAllRun(7),
    ],
  }),
  scenario({
    it: "a Deployment with strategy Recreate never has pods of two templates",
    tries: ["deployment-controller", "replicaset-controller"],
    objects: [deployment({ type: "Recreate" })],
    restMs: 20_000,
    steps: [...untilAllRun(1), async ({ client }) => void (await client.patch(deployments, WEB, image("web:2"))), ...untilAllRun(3)],
  }),
  scenario({
    it: "a ReplicationController scales up, loses a pod, adopts one and scales down",
    tries: ["replicationcontroller-controller"],
    objects: [
      { apiVersion: "v1", kind: "ReplicationController", metadata: WEB, spec: { replicas: 3, selector: LABELS, template: TEMPLATE } },
      // Scale-down does not select this one.
      {
        apiVersion: "v1",
        kind: "Pod",
        metadata: { namespace: "default", name: "orphan", labels: LABELS },
        spec: POD_SPEC,
        status: RUNNING,
      },
    ],
    restMs: 20_000,
    steps: [
      ...untilAllRun(1),
      async ({ client }) => void (await client.delete(pods, { namespace: "default", name: "orphan" }, { gracePeriodSeconds: 0 })),
      ...untilAllRun(1),
      async ({ client }) => void (await client.patch(replicationControllers, WEB, { type: "merge", value: { spec: { replicas: 1 } } })),
      ...untilAllRun(2),
    ],
  }),
];
