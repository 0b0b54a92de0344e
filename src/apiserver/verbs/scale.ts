/** The scale subresource: converts an object to an autoscaling/v1 Scale, and writes a Scale back as the object's replicas. */
import { applyConfiguration } from "../../api/machinery/apply/apply.ts";
import { trackUpdate, type FieldWriter, type IgnoredFields, type ManagedFields } from "../../api/machinery/apply/managed-fields.ts";
import { ownersOfScale, SCALE_API_VERSION, withOwnersOfScale, type ScaledObject } from "../../api/machinery/apply/scale.ts";
import { apiVersionOf, type JsonObject, type KubeObject } from "../../api/machinery/object.ts";
import { invalid } from "../../api/machinery/field-error.ts";
import { ageColumn, textColumn } from "../../api/machinery/columns.ts";
import type { Column, Subresource } from "../../api/machinery/resource.ts";
import type { ObjectSchema } from "../../api/machinery/schema.ts";
import { invalidObject, noSuchPath } from "../../api/machinery/status-error.ts";
import { formatTime } from "../../api/machinery/time.ts";
import type { Endpoint } from "../framework/endpoints.ts";
import type { Outcome } from "../framework/outcome.ts";
import type { ApiRequest } from "../framework/request.ts";
import type { ServerContext } from "../framework/server-context.ts";
import { decodeBody } from "../write/decode-body.ts";
import { fieldWriter } from "../write/field-manager.ts";
import { checkName, inNamespace } from "../write/metadata.ts";
import { checkPatchOptions, configurationOf, decodePatchedValue, patchValue, readPatch } from "../write/patch.ts";
import { updateObject } from "../write/update.ts";
import { checkWriteOptions } from "../write/write-options.ts";
import { getObject } from "./get.ts";
import type { StoredObject } from "../framework/storage/storage.ts";
import { prepareObjects, workingForm } from "../framework/storage/prepared-objects.ts";
import { checkUid } from "../framework/storage/preconditions.ts";

const SCALE = { group: "autoscaling", version: "v1", kind: "Scale" };
const SCALE_SCHEMA = "io.k8s.api.autoscaling.v1.Scale";

type ScaleSubresource = Extract<Subresource, { readonly of: "scale" }>;

interface ScaleCall {
  readonly endpoint: Endpoint;
  readonly request: ApiRequest;
  readonly subresource: ScaleSubresource;
}

type Scale = KubeObject & {
  readonly spec?: { readonly replicas?: number };
  readonly status?: { readonly replicas?: number };
};

export async function handleScale(server: ServerContext, call: ScaleCall): Promise<Outcome> {
  const { endpoint, request, subresource } = call;
  if (request.verb === "get") return scaleOutcome(call, await getObject(endpoint, request));
  const wanted = scaleReader(server, call);
  const { object } = await updateObject(server, {
    endpoint,
    request,
    subresource: { of: "object", verbs: [], prepareForUpdate: (next) => next, ...validationOf(endpoint) },
    next: (current) => {
      const stored = current as StoredObject;
      const { scale, managed } = wanted(stored);
      if (endpoint.resource.isTyped !== false) checkScale(request, scale);
      const object = subresource.write(stored.in(endpoint.served), scale.spec?.replicas ?? 0);
      return { object, managed, resourceVersion: versionOf(endpoint, scale, stored) };
    },
    createsIfAbsent: false,
  });
  // The written object is in the storage version.
  await prepareObjects(endpoint, [object]);
  return scaleOutcome(call, object);
}

/** Unlike the custom resource itself, its Scale may be written without a resourceVersion. */
function versionOf({ resource }: Endpoint, { metadata: { resourceVersion = "" } }: Scale, current: StoredObject): string {
  return resourceVersion === "" && resource.isTyped === false ? String(current.revision) : resourceVersion;
}

/** A write through scale must leave a valid object, too. */
function validationOf({ resource }: Endpoint): Pick<Extract<Subresource, { of: "object" }>, "validateUpdate" | "warnings"> {
  return {
    *validateUpdate(next, previous, warn) {
      yield* resource.validate?.(next, previous, warn) ?? [];
      yield* resource.validateUpdate?.(next, previous) ?? [];
    },
    warnings: (next, previous) => resource.warnings?.(next, previous) ?? [],
  };
}

/** The new Scale, and the resulting owners of the object's fields. */
interface WantedScale {
  readonly scale: Scale;
  readonly managed: ManagedFields;
}

/** Reads the body immediately; it is interpreted once the object to be scaled is known. */
function scaleReader(server: ServerContext, call: ScaleCall): (current: StoredObject) => WantedScale {
  const { request } = call;
  const schema = server.schemas.get(SCALE_SCHEMA);
  if (schema?.type !== "object") throw noSuchPath();
  if (request.verb === "update") {
    checkWriteOptions(request.options, "UpdateOptions");
    const { object } = decodeBody({ kind: SCALE, schema }, request.body, request);
    const scale = inNamespace(object as Scale, request.namespace);
    checkName(scale, request.name);
    return (current) => {
      checkUid(call.endpoint.name, request.name, { wanted: scale.metadata.uid, found: current.object.metadata.uid });
      return tracked(server, call, { schema, current, scale });
    };
  }
  const patch = readPatch(request.body);
  request.context.trail?.audit?.receivedPatch(patch.value);
  checkPatchOptions(patch, request, call.endpoint);
  if (patch.type === "apply") return (current) => applied(server, call, { schema, current, configuration: configurationOf(patch.value) });
  return (current) => {
    const shown = scaleOf(call, current) as JsonObject;
    const changed = patchValue(patch, shown, schema);
    const scale = decodePatchedValue({ schema, kind: SCALE.kind }, request, patch, { shown, changed }) as Scale;
    checkName(scale, request.name);
    return tracked(server, call, { schema, current, scale });
  };
}

interface ScaleWrite {
  readonly schema: ObjectSchema;
  readonly current: StoredObject;
}

/** A Scale that is sent or patched as a whole. */
function tracked(server: ServerContext, call: ScaleCall, { schema, current, scale }: ScaleWrite & { readonly scale: Scale }): WantedScale {
  const scaled = scaledObject(call);
  const owners = trackUpdate({
    schema,
    previous: scaleOf(call, current),
    previousManaged: ownersOfScale(current.managed(), scaled),
    next: scale,
    writer: scaleWriter(server, call),
    ignore: STATUS,
  });
  return { scale, managed: withOwnersOfScale(current.managed(), owners, scaled) };
}

function applied(
  server: ServerContext,
  call: ScaleCall,
  { schema, current, configuration }: ScaleWrite & { readonly configuration: JsonObject },
): WantedScale {
  const scaled = scaledObject(call);
  const { object, managed } = applyConfiguration({
    schema,
    live: scaleOf(call, current),
    liveManaged: ownersOfScale(current.managed(), scaled),
    applied: configuration,
    force: call.request.options.force ?? false,
    writer: scaleWriter(server, call),
    ignore: STATUS,
  });
  const scale = object as Scale;
  checkName(scale, call.request.name);
  return { scale, managed: withOwnersOfScale(current.managed(), managed, scaled) };
}

/** A Scale is read with a status, and written without. */
const STATUS: IgnoredFields = [["status"]];

function scaleWriter(server: ServerContext, { endpoint, request }: ScaleCall): FieldWriter {
  return { ...fieldWriter(request, endpoint, formatTime(server.clock.now())), apiVersion: SCALE_API_VERSION };
}

function scaledObject({ endpoint, subresource }: ScaleCall): ScaledObject {
  const { apiVersion, resource } = endpoint;
  const isServed = (version: string) => resource.served.some((served) => apiVersionOf(served) === version);
  return { replicasPath: subresource.replicasPath, apiVersion, isServed };
}

/** Custom resources are validated as a whole instead. */
function checkScale({ name }: ApiRequest, { spec }: Scale): void {
  const replicas = spec?.replicas ?? 0;
  if (replicas >= 0) return;
  throw invalidObject(SCALE, name, [invalid("spec.replicas", replicas, "must be greater than or equal to 0")]);
}

function scaleOutcome(call: ScaleCall, object: StoredObject): Outcome {
  const value = scaleOf(call, object);
  return { is: "value", code: 200, schema: SCALE_SCHEMA, value, columns: COLUMNS };
}

const COLUMNS: readonly Column<Scale>[] = [
  textColumn<Scale>("Name", "Name of the scaled object", ({ metadata }) => metadata.name),
  textColumn<Scale>("Desired", "Desired number of replicas", ({ spec }) => spec?.replicas ?? 0, { type: "integer" }),
  textColumn<Scale>("Available", "Observed number of replicas", ({ status }) => status?.replicas ?? 0, { type: "integer" }),
  ageColumn,
];

function scaleOf({ endpoint, subresource }: ScaleCall, stored: StoredObject) {
  const object = workingForm(endpoint, stored);
  const { specReplicas, statusReplicas, selector } = subresource.read(object);
  const { name, namespace, uid, resourceVersion, creationTimestamp } = object.metadata;
  return {
    kind: "Scale",
    apiVersion: "autoscaling/v1",
    metadata: { name, namespace, uid, resourceVersion, creationTimestamp },
    spec: specReplicas === 0 ? {} : { replicas: specReplicas },
    status: { replicas: statusReplicas, ...(selector === "" ? {} : { selector }) },
  };
}
