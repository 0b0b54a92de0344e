/**
 * Defines a Website, the objects it consists of, and the plan that creates them. Pure functions of their arguments, tested with tables.
 * Not here: reading and writing objects (website-controller.ts).
 *
 * A Website is a labelled ConfigMap, since a kind of its own would need a CustomResourceDefinition. Its `data` takes the place of `spec`,
 * its annotations that of `status`.
 */
import { createHash } from "node:crypto";
import type { Draft, KubeObject, ResourceKind } from "k8ts/client";
import { configMaps, deployments, ingresses, services, type appsV1, type coreV1 } from "k8ts/kinds";

export type Website = coreV1.ConfigMap;

/** Marks a ConfigMap as a Website. */
export const KIND_LABEL = "example.k8ts.io/kind";
/** On every managed object: the name of its Website. Also the Pod selector. */
export const WEBSITE_LABEL = "example.k8ts.io/website";

export function isWebsite({ metadata }: KubeObject): boolean {
  return metadata.labels?.[KIND_LABEL] === "Website";
}

// ── spec ─────────────────────────────────────────────────────────────────────────────

export interface WebsiteSpec {
  readonly html: string;
  readonly replicas: number;
  /** External host name. If absent, the site is reachable inside the cluster only. */
  readonly host?: string;
}

/** Upper limit, so that a typo does not fill the cluster. */
const REPLICAS_MAX = 20;

/** Returns the parsed spec, or one message per error. */
export function readSpec({ data = {} }: Website): WebsiteSpec | { readonly problems: readonly string[] } {
  const { html = "", replicas: text = "1", host = "" } = data;
  const replicas = /^\d+$/.test(text) ? Number(text) : Infinity;
  const problems: string[] = [];
  if (html === "") problems.push("html is missing: it must contain the page");
  if (replicas > REPLICAS_MAX) problems.push(`replicas is "${text}": it must be a whole number from 0 to ${REPLICAS_MAX}`);
  if (problems.length > 0) return { problems };
  return { html, replicas, ...(host === "" ? {} : { host }) };
}

// ── desired objects ──────────────────────────────────────────────────────────────────────────────

/** An object and its kind. */
export interface Part<O = KubeObject> {
  readonly kind: ResourceKind;
  readonly object: O;
}

export type WantedPart = Part<Draft<KubeObject>>;

export const PART_KINDS: readonly ResourceKind[] = [configMaps, deployments, services, ingresses];

/** Returns the desired objects of a Website. Only relevant fields are set; the server defaults the rest, and other clients may add fields. */
export function partsOf({ metadata: { name, namespace = "" } }: KubeObject, spec: WebsiteSpec): readonly WantedPart[] {
  const labels = { [WEBSITE_LABEL]: name };
  const page = `${name}-page`;
  const port = { name: "http", port: 80 };
  return [
    part(configMaps, {
      apiVersion: "v1",
      kind: "ConfigMap",
      metadata: { name: page, namespace, labels },
      data: { "index.html": spec.html },
    }),
    part(deployments, {
      apiVersion: "apps/v1",
      kind: "Deployment",
      metadata: { name, namespace, labels },
      spec: { replicas: spec.replicas, selector: { matchLabels: labels }, template: podTemplate(page, labels, spec) },
    }),
    part(services, {
      apiVersion: "v1",
      kind: "Service",
      metadata: { name, namespace, labels },
      spec: { selector: labels, ports: [{ ...port, targetPort: "http" }] },
    }),
    ...(spec.host === undefined ? [] : [ingressFor(spec.host, { name, namespace, labels })]),
  ];
}

/** Checks an object against the type of its kind. */
function part<T extends KubeObject>(kind: ResourceKind<T>, object: Draft<T>): WantedPart {
  return { kind, object };
}

function podTemplate(page: string, labels: Record<string, string>, { html }: WebsiteSpec): coreV1.PodTemplateSpec {
  // A changed page changes the template, so the Deployment rolls it out.
  const annotations = { "example.k8ts.io/page": createHash("sha256").update(html).digest("hex").slice(0, 16) };
  return {
    metadata: { labels, annotations },
    spec: {
      containers: [
        {
          name: "web",
          image: "nginx:stable",
          ports: [{ name: "http", containerPort: 80 }],
          volumeMounts: [{ name: "page", mountPath: "/usr/share/nginx/html", readOnly: true }],
        },
      ],
      volumes: [{ name: "page", configMap: { name: page } }],
    },
  };
}

function ingressFor(host: string, metadata: { name: string; namespace: string; labels: Record<string, string> }): WantedPart {
  const backend = { service: { name: metadata.name, port: { name: "http" } } };
  return part(ingresses, {
    apiVersion: "networking.k8s.io/v1",
    kind: "Ingress",
    metadata,
    spec: { rules: [{ host, http: { paths: [{ path: "/", pathType: "Prefix", backend }] } }] },
  });
}

// ── plan ──────────────────────────────────────────────────────────────────────────────

export type Step =
  | { readonly is: "create"; readonly kind: ResourceKind; readonly wanted: Draft<KubeObject> }
  | { readonly is: "change"; readonly kind: ResourceKind; readonly wanted: Draft<KubeObject>; readonly found: KubeObject }
  | { readonly is: "delete"; readonly kind: ResourceKind; readonly found: KubeObject };

/** Compares the desired objects with the existing ones (`found`). Up-to-date and terminating objects need no step. */
export function plan(wanted: readonly WantedPart[], found: readonly Part[]): readonly Step[] {
  const steps: Step[] = [];
  for (const { kind, object } of wanted) {
    const there = found.find((other) => other.kind === kind && other.object.metadata.name === object.metadata.name);
    if (there === undefined) steps.push({ is: "create", kind, wanted: object });
    else if (!isTerminating(there) && !contains(there.object, object)) steps.push({ is: "change", kind, wanted: object, found: there.object });
  }
  const isWanted = ({ kind, object }: Part) =>
    wanted.some((other) => other.kind === kind && other.object.metadata.name === object.metadata.name);
  const surplus = found.filter((other) => !isWanted(other) && !isTerminating(other));
  return [...steps, ...surplus.map(({ kind, object }): Step => ({ is: "delete", kind, found: object }))];
}

function isTerminating({ object }: Part): boolean {
  return object.metadata.deletionTimestamp !== undefined;
}

/** True if `found` has all desired fields. Additional fields are ignored: defaults, status, fields of other clients. */
export function contains(found: unknown, wanted: unknown): boolean {
  if (typeof wanted !== "object" || wanted === null) return found === wanted;
  if (typeof found !== "object" || found === null) return false;
  if (Array.isArray(wanted)) {
    return Array.isArray(found) && found.length === wanted.length && wanted.every((item, index) => contains(found[index], item));
  }
  return Object.entries(wanted).every(([key, value]) => contains((found as Record<string, unknown>)[key], value));
}

// ── status ──────────────────────────────────────────────────────────────────────────────

/** The condition "Ready". */
export interface WebsiteStatus {
  readonly ready: "True" | "False";
  /** One word, machine-readable. */
  readonly reason: "AllReady" | "Progressing" | "InvalidSpec" | "NameTaken" | "Refused";
  /** Human-readable. */
  readonly message: string;
}

export function statusOf({ replicas }: WebsiteSpec, deployment?: appsV1.Deployment): WebsiteStatus {
  const { availableReplicas = 0, updatedReplicas = 0, observedGeneration = 0 } = deployment?.status ?? {};
  // The status of an older generation says nothing about this spec.
  const isObserved = observedGeneration >= (deployment?.metadata.generation ?? Infinity);
  const ready = isObserved ? Math.min(availableReplicas, updatedReplicas) : 0;
  const message = `${ready} of ${replicas} pods are ready`;
  const isReady = isObserved && ready >= replicas;
  return isReady ? { ready: "True", reason: "AllReady", message } : { ready: "False", reason: "Progressing", message };
}

export const STATUS_ANNOTATIONS = {
  ready: "example.k8ts.io/ready",
  reason: "example.k8ts.io/reason",
  message: "example.k8ts.io/message",
  since: "example.k8ts.io/ready-since",
} as const;

/** Returns the Website with this status, or the same object if nothing changes. `since` is the last transition time of `ready`. */
export function withStatus(website: Website, { ready, reason, message }: WebsiteStatus, nowMs: number): Website {
  const { annotations = {} } = website.metadata;
  const names = STATUS_ANNOTATIONS;
  const since = annotations[names.ready] === ready ? annotations[names.since] : undefined;
  const status = {
    [names.ready]: ready,
    [names.reason]: reason,
    [names.message]: message,
    [names.since]: since ?? new Date(nowMs).toISOString(),
  };
  if (contains(annotations, status)) return website;
  return { ...website, metadata: { ...website.metadata, annotations: { ...annotations, ...status } } };
}
