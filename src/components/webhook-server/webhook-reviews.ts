/** Answers AdmissionReview and ConversionReview (v1) with functions over objects. Pure. Not here: HTTPS (start-webhook-server.ts). */
import { deepEqual } from "../../base/deep.ts";
import type { Json, KubeObject } from "../../api/machinery/object.ts";

/** The part of an AdmissionRequest that webhooks need. */
export interface AdmissionCall {
  readonly uid: string;
  readonly operation: "CREATE" | "UPDATE" | "DELETE" | "CONNECT";
  readonly namespace?: string;
  readonly name?: string;
  readonly resource: { readonly group: string; readonly version: string; readonly resource: string };
  readonly subResource?: string;
  readonly userInfo: { readonly username?: string; readonly groups?: readonly string[] };
  /** Absent for DELETE. */
  readonly object?: KubeObject;
  /** Absent for CREATE. */
  readonly oldObject?: KubeObject;
  readonly dryRun?: boolean;
}

export type AdmissionDecision =
  /** `object`: what to store instead, for mutating webhooks. */
  | { readonly allowed: true; readonly object?: KubeObject; readonly warnings?: readonly string[] }
  | { readonly allowed: false; readonly message: string; readonly warnings?: readonly string[] };

export type AdmissionHandler = (call: AdmissionCall) => AdmissionDecision | Promise<AdmissionDecision>;

/** Returns the object in the requested version. Throws an Error with a message for the user if it cannot. */
export type ConversionHandler = (object: KubeObject, apiVersion: string) => KubeObject;

export async function reviewAdmission(review: unknown, decide: AdmissionHandler): Promise<object> {
  const request = withoutNulls((review as { readonly request: SentCall }).request);
  const decision = await decide(request);
  const { warnings = [] } = decision;
  return {
    apiVersion: "admission.k8s.io/v1",
    kind: "AdmissionReview",
    response: {
      uid: request.uid,
      allowed: decision.allowed,
      ...(decision.allowed ? patchOf(request.object, decision.object) : { status: { message: decision.message } }),
      ...(warnings.length === 0 ? {} : { warnings }),
    },
  };
}

/** API servers send null for an object that does not exist. */
interface SentCall extends Omit<AdmissionCall, "object" | "oldObject"> {
  readonly object?: KubeObject | null;
  readonly oldObject?: KubeObject | null;
}

function withoutNulls({ object, oldObject, ...call }: SentCall): AdmissionCall {
  return { ...call, ...(object ? { object } : {}), ...(oldObject ? { oldObject } : {}) };
}

function patchOf(before: KubeObject | undefined, after: KubeObject | undefined): object {
  const operations = before === undefined || after === undefined ? [] : jsonPatch(before, after);
  if (operations.length === 0) return {};
  return { patchType: "JSONPatch", patch: Buffer.from(JSON.stringify(operations)).toString("base64") };
}

interface PatchOperation {
  readonly op: "add" | "replace" | "remove";
  readonly path: string;
  readonly value?: Json;
}

/** JSON Patch by top-level fields: any server applies it, and fields that did not change stay. */
export function jsonPatch(before: KubeObject, after: KubeObject): readonly PatchOperation[] {
  const old = new Map<string, Json>(Object.entries(before));
  const now = new Map<string, Json>(Object.entries(after));
  return [...new Set([...old.keys(), ...now.keys()])].flatMap((name): PatchOperation[] => {
    const [from, value] = [old.get(name), now.get(name)];
    const path = `/${name.replaceAll("~", "~0").replaceAll("/", "~1")}`;
    if (deepEqual(from, value)) return [];
    if (value === undefined) return [{ op: "remove", path }];
    return [{ op: from === undefined ? "add" : "replace", path, value }];
  });
}

export function reviewConversion(review: unknown, convert: ConversionHandler): object {
  const { request } = review as {
    readonly request: { readonly uid: string; readonly desiredAPIVersion: string; readonly objects: readonly KubeObject[] };
  };
  return {
    apiVersion: "apiextensions.k8s.io/v1",
    kind: "ConversionReview",
    response: { uid: request.uid, ...converted(request.objects, request.desiredAPIVersion, convert) },
  };
}

function converted(objects: readonly KubeObject[], apiVersion: string, convert: ConversionHandler): object {
  try {
    const convertedObjects = objects.map((object) => (object.apiVersion === apiVersion ? object : convert(object, apiVersion)));
    return { convertedObjects, result: { status: "Success" } };
  } catch (error) {
    return { result: { status: "Failure", message: (error as Error).message } };
  }
}
