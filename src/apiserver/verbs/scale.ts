/** The scale subresource: an autoscaling/v1 Scale made of an object, and a Scale that is written back as the object's replicas. */
import type { JsonObject, KubeObject } from "../../api/machinery/object.ts";
import { invalid } from "../../api/machinery/field-error.ts";
import type { Subresource } from "../../api/machinery/resource.ts";
import { invalidObject, noSuchPath } from "../../api/machinery/status-error.ts";
import type { Endpoint } from "../endpoints.ts";
import type { Outcome } from "../outcome.ts";
import type { ApiRequest } from "../request.ts";
import type { ServerContext } from "../server-context.ts";
import type { StoredObject } from "../storage/stored-object.ts";
import { decodeBody } from "../write/decode-body.ts";
import { checkName } from "../write/metadata.ts";
import { decodePatchedValue, patchValue, readPatch, checkPatchOptions } from "../write/patch.ts";
import { updateObject } from "../write/update.ts";
import { getObject } from "./get.ts";

const SCALE = { group: "autoscaling", version: "v1", kind: "Scale" };
const SCALE_SCHEMA = "io.k8s.api.autoscaling.v1.Scale";

type ScaleSubresource = Extract<Subresource, { readonly of: "scale" }>;

interface ScaleCall {
  readonly endpoint: Endpoint;
  readonly request: ApiRequest;
  readonly subresource: ScaleSubresource;
}

interface Scale extends KubeObject {
  readonly spec?: { readonly replicas?: number };
}

export async function handleScale(server: ServerContext, call: ScaleCall): Promise<Outcome> {
  const { endpoint, request, subresource } = call;
  if (request.verb === "get") return scaleOutcome(subresource, await getObject(endpoint, request));
  const wanted = scaleReader(server, call);
  const { object } = await updateObject(server, {
    endpoint,
    request,
    subresource: { of: "object", verbs: [], prepareForUpdate: (next) => next, ...validationOf(endpoint) },
    next: (current) => {
      const { scale, resourceVersion } = wanted(current as StoredObject);
      checkScale(request, scale);
      const shown = (current as StoredObject).in(endpoint.served);
      return { object: subresource.write(shown, scale.spec?.replicas ?? 0), resourceVersion };
    },
    createsIfAbsent: false,
  });
  return scaleOutcome(subresource, object);
}

/** A write through scale must leave a valid object, too. */
function validationOf({ resource }: Endpoint): Pick<Extract<Subresource, { of: "object" }>, "validateUpdate"> {
  return { validateUpdate: (next, previous) => resource.validateUpdate?.(next, previous) ?? [] };
}

/** The Scale that is sent or patched, and the version that the client insists on ("" if on none). */
function scaleReader(
  server: ServerContext,
  { request, subresource }: ScaleCall,
): (current: StoredObject) => { readonly scale: Scale; readonly resourceVersion: string } {
  const schema = server.schemas.get(SCALE_SCHEMA);
  if (schema?.type !== "object") throw noSuchPath();
  if (request.verb === "update") {
    const { object } = decodeBody({ kind: SCALE, schema }, request.body, request);
    const scale = object as Scale;
    checkName(scale, request.name);
    return () => ({ scale, resourceVersion: scale.metadata.resourceVersion ?? "" });
  }
  const patch = readPatch(request.body);
  checkPatchOptions(patch, request);
  return (current) => {
    const shown = scaleOf(subresource, current) as unknown as JsonObject;
    const changed = patchValue(patch, shown, schema);
    const scale = decodePatchedValue({ schema, kind: SCALE.kind }, request, patch, { shown, changed }) as Scale;
    return { scale, resourceVersion: scale.metadata.resourceVersion ?? "" };
  };
}

function checkScale({ name }: ApiRequest, { spec }: Scale): void {
  const replicas = spec?.replicas ?? 0;
  if (replicas >= 0) return;
  throw invalidObject(SCALE, name, [invalid("spec.replicas", replicas, "must be greater than or equal to 0")]);
}

function scaleOutcome(subresource: ScaleSubresource, object: StoredObject): Outcome {
  return { is: "value", code: 200, schema: SCALE_SCHEMA, value: scaleOf(subresource, object) as unknown as JsonObject };
}

function scaleOf({ read }: ScaleSubresource, { object }: StoredObject) {
  const { specReplicas, statusReplicas, selector } = read(object);
  const { name, namespace, uid, resourceVersion, creationTimestamp } = object.metadata;
  return {
    kind: "Scale",
    apiVersion: "autoscaling/v1",
    metadata: { name, namespace, uid, resourceVersion, creationTimestamp },
    spec: specReplicas === 0 ? {} : { replicas: specReplicas },
    status: { replicas: statusReplicas, ...(selector === "" ? {} : { selector }) },
  };
}
