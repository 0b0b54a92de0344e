/** Changes the spec of a Pod where it comes from: the template of its workload, or the Pod itself, which is replaced if it must be. */
import { isObject, type Json, type JsonObject } from "../../api/machinery/object.ts";
import type { ClusterView, Seen, Subject } from "./cluster-view.ts";
import { patch, subjectOf, type Change, type Manifest } from "./explainer.ts";

export interface PodSource {
  /** The workload whose template the Pod has, or the Pod. */
  readonly subject: Subject;
  readonly object: Seen;
  readonly isPod: boolean;
}

const TEMPLATED = ["deployments.apps", "statefulsets.apps", "daemonsets.apps", "replicasets.apps", "jobs.batch", "replicationcontrollers"];

const LAST_APPLIED = "kubectl.kubernetes.io/last-applied-configuration";

export function podSource(view: ClusterView, pod: Seen): PodSource {
  let source: PodSource = { subject: subjectOf("pods", pod), object: pod, isPod: true };
  for (;;) {
    const owner = view.owner(source.object);
    if (owner === undefined || !TEMPLATED.includes(owner.resource)) return source;
    const { resource, namespace, name, object } = owner;
    source = { subject: { resource, namespace, name }, object, isPod: false };
  }
}

/** Changes of members of the Pod's spec; `undefined` removes one. */
export function podSpecChanges(
  { subject, object, isPod }: PodSource,
  members: Readonly<Record<string, Json | undefined>>,
): readonly Change[] {
  const cleared = Object.fromEntries(Object.entries(members).map(([name, value]) => [name, value ?? null]));
  if (!isPod) return [patch(subject, { spec: { template: { spec: cleared } } })];
  const { name, namespace, labels } = object.metadata;
  // The record of `kubectl apply` is about the Pod as it was.
  const { [LAST_APPLIED]: _applied, ...annotations } = labelsOf(object.metadata.annotations);
  const metadata = {
    ...{ name, namespace },
    ...(labels === undefined ? {} : { labels }),
    ...(Object.keys(annotations).length === 0 ? {} : { annotations }),
  };
  const spec = Object.fromEntries(
    Object.entries({ ...withoutAssigned(object.spec), ...members }).filter(([, value]) => value !== undefined),
  );
  const again: Manifest = { apiVersion: "v1", kind: "Pod", metadata, spec };
  return [
    { type: "delete", target: subject, force: true },
    { type: "create", object: again },
  ];
}

/** The spec as its user wrote it, as far as that is known: without what admission and the scheduler add. */
function withoutAssigned(spec: JsonObject): JsonObject {
  const { nodeName: _node, volumes, containers, ...rest } = spec as Seen;
  const isToken = ({ name }: Seen) => String(name).startsWith("kube-api-access-");
  const kept = (volumes ?? []).filter((volume: Seen) => !isToken(volume));
  const clean = ({ volumeMounts = [], ...container }: Seen) => {
    const mounts = volumeMounts.filter((mount: Seen) => !isToken(mount));
    return { ...container, ...(mounts.length === 0 ? {} : { volumeMounts: mounts }) };
  };
  return { ...rest, ...(kept.length === 0 ? {} : { volumes: kept }), containers: containers.map(clean) };
}

/** Sets one request of a container. In a template only that is patched; a limit below the request would be invalid, so a limit stays. */
export function requestChanges(source: PodSource, name: string, requests: Readonly<Record<string, string>>): readonly Change[] {
  const { subject, isPod } = source;
  if (!isPod) {
    const containers = [{ name, resources: { requests } }];
    return [{ type: "patch", target: subject, patchType: "strategic", patch: { spec: { template: { spec: { containers } } } } }];
  }
  const containers = podSpecOf(source).containers.map((container: Seen) => {
    const { resources = {} } = container;
    return container.name === name
      ? { ...container, resources: { ...resources, requests: { ...resources.requests, ...requests } } }
      : container;
  });
  return podSpecChanges(source, { containers });
}

export function podSpecOf({ object, isPod }: PodSource): Seen {
  return isPod ? withoutAssigned(object.spec) : object.spec.template.spec;
}

/** Member by member: `isObject` narrows to JSON. */
export function labelsOf(value: Json | undefined): Readonly<Record<string, string>> {
  return isObject(value) ? (value as Readonly<Record<string, string>>) : {};
}

export function matchesLabels(selector: Readonly<Record<string, string>>, labels: Readonly<Record<string, string>>): boolean {
  return Object.entries(selector).every(([key, value]) => labels[key] === value);
}
