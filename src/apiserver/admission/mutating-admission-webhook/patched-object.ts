/** Applies the JSON patch of a webhook: the result is decoded and defaulted like a whole object. Messages are upstream's. */
import { decodeBySchema } from "../../../api/machinery/codec/decode.ts";
import { quoteGo } from "../../../api/machinery/codec/go-text.ts";
import { apiVersionOf, type GroupVersionKind, isObject, type Json, type KubeObject } from "../../../api/machinery/object.ts";
import { applyJsonPatch } from "../../../api/machinery/patch/json-patch.ts";
import { internalError, StatusError } from "../../../api/machinery/status-error.ts";
import { deepEqual } from "../../../base/deep.ts";
import type { AdmissionTarget } from "../../shared/admission/admission-target.ts";

export interface PatchedBy {
  readonly webhook: string;
  readonly target: AdmissionTarget;
  readonly object: KubeObject | undefined;
}

/** undefined: the patch changes nothing. Throws InternalError: the mistake is neither the client's nor the failure policy's. */
export function patchedByWebhook({ webhook, target, object }: PatchedBy, { value }: { readonly value: Json }): KubeObject | undefined {
  if (object === undefined) {
    const why = `admission webhook ${quoteGo(webhook)} attempted to modify the object, which is not supported for this operation`;
    throw internalError(new Error(why));
  }
  const patched = applied(object, value);
  rejectOtherKind(target.kind, patched);
  const decoded = decode(target, patched);
  const defaulted = target.isWhole ? (target.endpoint.served.defaults?.(decoded) ?? decoded) : decoded;
  return deepEqual(defaulted, object) ? undefined : defaulted;
}

/** A patch cannot turn an object into one of another kind. */
function rejectOtherKind({ group, version, kind }: GroupVersionKind, patched: Json): void {
  if (!isObject(patched) || (patched["kind"] === kind && patched["apiVersion"] === apiVersionOf({ group, version }))) return;
  const { kind: found, apiVersion } = patched;
  const from = `${textOf(apiVersion).split("/").at(-1)}.${textOf(found)}`;
  const to = `${group === "" ? "core" : (group.split(".")[0] ?? "")}.${kind}`;
  throw new StatusError("Unknown", `converting (${from}) to (${to}): unknown conversion`);
}

function textOf(value: Json | undefined): string {
  return typeof value === "string" ? value : "";
}

function applied(object: KubeObject, patch: Json): Json {
  try {
    return applyJsonPatch(object, patch);
  } catch (error) {
    // The general message of the patch API hides the cause, which is what the webhook's author needs.
    throw internalError((error as Error).cause ?? error);
  }
}

function decode(target: AdmissionTarget, value: Json): KubeObject {
  try {
    const { kind, endpoint, isWhole, schema } = target;
    if (schema === undefined) throw new Error(`no kind "${kind.kind}" is registered for version "${apiVersionOf(kind)}"`);
    const decoded = isWhole && endpoint.served.decode !== undefined ? endpoint.served.decode(value) : decodeBySchema(value, schema);
    return { ...(decoded.object as KubeObject), kind: kind.kind, apiVersion: apiVersionOf(kind) };
  } catch (error) {
    throw internalError(error);
  }
}
