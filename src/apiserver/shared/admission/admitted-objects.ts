/** The objects of a request in the version and form that a webhook or policy wants, and back. */
import { apiVersionOf, type GroupVersionKind, type JsonObject, type KubeObject } from "../../../api/machinery/object.ts";
import type { ManagedFieldsEntry } from "../../../api/machinery/object.ts";
import type { Subresource } from "../../../api/machinery/resource.ts";
import { deepEqual } from "../../../base/deep.ts";
import type { AdmissionRequest } from "../../framework/admission.ts";
import type { Endpoint } from "../../framework/endpoints.ts";
import type { AdmissionTarget } from "./admission-target.ts";

export interface AdmittedObjects {
  readonly object?: KubeObject;
  readonly oldObject?: KubeObject;
}

type ScaleSubresource = Extract<Subresource, { readonly of: "scale" }>;

/** Rejects with a StatusError if another program converts and fails. */
export async function objectsFor(request: AdmissionRequest, target: AdmissionTarget): Promise<AdmittedObjects> {
  const { object, managed, oldObject, oldManaged } = request;
  const entries = managed === undefined ? undefined : () => managed.entries();
  const oldEntries = oldManaged === undefined ? undefined : () => oldManaged().entries();
  return {
    ...(object === undefined ? {} : { object: await shownTo(request, target, { object, entries }) }),
    ...(oldObject === undefined ? {} : { oldObject: await shownTo(request, target, { object: oldObject, entries: oldEntries }) }),
  };
}

interface OwnedObject {
  readonly object: KubeObject;
  readonly entries: (() => readonly ManagedFieldsEntry[]) | undefined;
}

async function shownTo(
  request: AdmissionRequest,
  { endpoint, kind }: AdmissionTarget,
  { object, entries }: OwnedObject,
): Promise<KubeObject> {
  const definition = request.endpoint.resource.subresources[request.subresource];
  if (definition?.of === "scale") return scaleOf(definition, object);
  if (definition?.of === "action" || definition?.of === "connection") return withKind(object, kind);
  const shown = withKind(await converted(object, request.endpoint, endpoint), kind);
  return entries === undefined ? shown : withManagedFields(shown, entries);
}

/** managedFields are computed and parsed when they are first read: few expressions read them. */
function withManagedFields(object: KubeObject, entries: () => readonly ManagedFieldsEntry[]): KubeObject {
  let known: readonly ManagedFieldsEntry[] | undefined;
  const metadata = Object.defineProperty({ ...object.metadata }, "managedFields", {
    enumerable: true,
    get() {
      known ??= entries();
      return known.length === 0 ? undefined : known;
    },
  });
  return { ...object, metadata };
}

/** Objects of a request are without managedFields; changed ones replace those of the request. */
function takeManagedFields({ managed }: AdmissionRequest, changed: KubeObject): KubeObject {
  const { managedFields = [], ...metadata } = changed.metadata;
  if (managed !== undefined && !deepEqual(managedFields, managed.entries())) managed.replace(managedFields);
  return { ...changed, metadata };
}

/** The changed object of a webhook or policy as the request has it. */
export async function objectBack(request: AdmissionRequest, { endpoint }: AdmissionTarget, changed: KubeObject): Promise<KubeObject> {
  const { subresource, object, endpoint: requested } = request;
  const definition = requested.resource.subresources[subresource];
  if (definition?.of === "scale") return definition.write(object as KubeObject, replicasOf(changed));
  if (definition?.of === "action" || definition?.of === "connection") return changed;
  const { served, resource } = requested;
  const kept = takeManagedFields(request, changed);
  return withKind(await converted(kept, endpoint, requested), { group: served.group, version: served.version, kind: resource.kind });
}

/** An object in its storage version, as the endpoint serves it. */
export async function inVersion({ resource, served }: Endpoint, object: KubeObject): Promise<KubeObject> {
  const kind = { group: served.group, version: served.version, kind: resource.kind };
  const { conversion } = resource;
  if (conversion !== undefined) return withKind((await conversion.convert([object], served.version))[0] ?? object, kind);
  return withKind(served.fromStorage?.(object) ?? object, kind);
}

async function converted(object: KubeObject, from: Endpoint, to: Endpoint): Promise<KubeObject> {
  if (from.served === to.served) return object;
  const { conversion } = from.resource;
  if (conversion !== undefined) return (await conversion.convert([object], to.served.version))[0] ?? object;
  const stored = from.served.toStorage?.(object) ?? object;
  return to.served.fromStorage?.(stored) ?? stored;
}

function withKind(object: KubeObject, kind: GroupVersionKind): KubeObject {
  const apiVersion = apiVersionOf(kind);
  if (object.kind === kind.kind && object.apiVersion === apiVersion) return object;
  return { ...object, kind: kind.kind, apiVersion };
}

function scaleOf({ read }: ScaleSubresource, object: KubeObject): KubeObject {
  const { specReplicas, statusReplicas, selector } = read(object);
  const { name, namespace, uid, resourceVersion, creationTimestamp } = object.metadata;
  const optional = { namespace, uid, resourceVersion, creationTimestamp };
  return {
    kind: "Scale",
    apiVersion: "autoscaling/v1",
    metadata: { name, ...Object.fromEntries(Object.entries(optional).filter(([, value]) => value !== undefined)) },
    spec: specReplicas === 0 ? {} : { replicas: specReplicas },
    status: { replicas: statusReplicas, ...(selector === "" ? {} : { selector }) },
  } as KubeObject;
}

function replicasOf(scale: KubeObject): number {
  const { replicas = 0 } = ((scale as JsonObject)["spec"] ?? {}) as { readonly replicas?: number };
  return replicas;
}
