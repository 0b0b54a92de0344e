/** What is installed with the operator: the CustomResourceDefinition, the webhook configurations, and its permissions. */
import type { WebhookServer } from "k8ts/controllers";
import { databaseController } from "./database-controller.ts";
import { GROUP } from "./database.ts";

export const PATHS = { convert: "/convert", mutate: "/mutate", validate: "/validate" } as const;

type Access = Pick<WebhookServer, "url" | "caBundle">;

export function manifests(webhooks: Access): readonly object[] {
  return [crd(webhooks), mutating(webhooks), validating(webhooks)];
}

const CONDITIONS = {
  type: "array",
  "x-kubernetes-list-type": "map",
  "x-kubernetes-list-map-keys": ["type"],
  items: {
    type: "object",
    required: ["type", "status"],
    properties: {
      ...Object.fromEntries(["type", "status", "reason", "message"].map((name) => [name, { type: "string" }])),
      observedGeneration: { type: "integer", format: "int64" },
      lastTransitionTime: { type: "string", format: "date-time" },
    },
  },
};

const SIZE = { type: "string", pattern: "^[1-9][0-9]*Gi$" };
const REPLICAS = { type: "integer", minimum: 1, maximum: 9, default: 1 };

function crd({ url, caBundle }: Access): object {
  const conversion = {
    strategy: "Webhook",
    webhook: { conversionReviewVersions: ["v1"], clientConfig: { url: `${url}${PATHS.convert}`, caBundle } },
  };
  const engine = {
    type: "object",
    required: ["name", "version"],
    properties: { name: { type: "string", minLength: 1 }, version: { type: "string", minLength: 1 } },
  };
  const storage = { type: "object", required: ["size"], properties: { size: SIZE } };
  return {
    apiVersion: "apiextensions.k8s.io/v1",
    kind: "CustomResourceDefinition",
    metadata: { name: `databases.${GROUP}` },
    spec: {
      group: GROUP,
      names: { kind: "Database", plural: "databases", singular: "database", shortNames: ["db"] },
      scope: "Namespaced",
      conversion,
      versions: [
        version("v1", { isStored: true, required: ["engine", "storage"], spec: { engine, storage, replicas: REPLICAS } }),
        version("v1alpha1", {
          ...{ isStored: false, required: ["engine", "size"] },
          spec: { engine: { type: "string", pattern: "^[^:]+:[^:]+$" }, size: SIZE, replicas: REPLICAS },
        }),
      ],
    },
  };
}

function version(name: string, { isStored, required, spec }: { isStored: boolean; required: readonly string[]; spec: object }): object {
  const status = { type: "object", properties: { conditions: CONDITIONS } };
  const properties = { spec: { type: "object", required, properties: spec }, status };
  return {
    ...{ name, served: true, storage: isStored, deprecated: !isStored },
    schema: { openAPIV3Schema: { type: "object", required: ["spec"], properties } },
    subresources: { status: {} },
    additionalPrinterColumns: [
      { name: "Ready", type: "string", jsonPath: ".status.conditions[?(@.type=='Ready')].status" },
      { name: "Replicas", type: "integer", jsonPath: ".spec.replicas" },
    ],
  };
}

const NAME = "database-operator";

function webhook({ url, caBundle }: Access, path: string, operations: readonly string[]): object {
  return {
    name: `${path.slice(1)}.${GROUP}`,
    clientConfig: { url: `${url}${path}`, caBundle },
    rules: [{ apiGroups: [GROUP], apiVersions: ["v1"], resources: ["databases"], operations }],
    // Requests in the old version are converted before the webhook sees them.
    matchPolicy: "Equivalent",
    sideEffects: "None",
    admissionReviewVersions: ["v1"],
    timeoutSeconds: 5,
  };
}

function mutating(webhooks: Access): object {
  const kind = "MutatingWebhookConfiguration";
  const list = [webhook(webhooks, PATHS.mutate, ["CREATE", "UPDATE"])];
  return { apiVersion: "admissionregistration.k8s.io/v1", kind, metadata: { name: NAME }, webhooks: list };
}

function validating(webhooks: Access): object {
  const kind = "ValidatingWebhookConfiguration";
  const list = [webhook(webhooks, PATHS.validate, ["CREATE", "UPDATE"])];
  return { apiVersion: "admissionregistration.k8s.io/v1", kind, metadata: { name: NAME }, webhooks: list };
}

/** For a service account of the operator, generated from the controller's rules. */
export function clusterRole(): object {
  const leases = { apiGroups: ["coordination.k8s.io"], resources: ["leases"], verbs: ["get", "create", "update", "watch"] };
  const install = [
    { apiGroups: ["apiextensions.k8s.io"], resources: ["customresourcedefinitions"], verbs: ["get", "create", "patch"] },
    {
      apiGroups: ["admissionregistration.k8s.io"],
      resources: ["mutatingwebhookconfigurations", "validatingwebhookconfigurations"],
      verbs: ["get", "create", "patch"],
    },
  ];
  const rules = [...databaseController.rules, leases, ...install];
  return { apiVersion: "rbac.authorization.k8s.io/v1", kind: "ClusterRole", metadata: { name: NAME }, rules };
}
