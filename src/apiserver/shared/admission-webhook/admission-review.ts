/** AdmissionReview (admission.k8s.io/v1 and v1beta1): what is sent to a webhook, and the checks of its response. Messages are upstream's. */
import { decodeBase64 } from "../../../api/machinery/codec/base64.ts";
import { quoteGo } from "../../../api/machinery/codec/go-text.ts";
import { parseJson } from "../../../api/machinery/codec/json.ts";
import { isObject, type Json, type JsonObject } from "../../../api/machinery/object.ts";
import type { AdmissionRequest } from "../../framework/admission.ts";
import type { AdmissionTarget } from "../admission/admission-target.ts";
import type { AdmittedObjects } from "../admission/admitted-objects.ts";
import { reviewedRequest } from "../admission/reviewed-request.ts";
import { REVIEW_GROUP, REVIEW_KIND, type ReviewVersion } from "./decode-admission-review.ts";

/** The first version that the webhook and the server know; undefined if none exists. */
export function reviewVersion(offered: readonly string[]): ReviewVersion | undefined {
  return offered.find((version): version is ReviewVersion => version === "v1" || version === "v1beta1");
}

export interface ReviewedRequest extends AdmittedObjects {
  readonly request: AdmissionRequest;
  readonly target: AdmissionTarget;
  readonly uid: string;
}

export function reviewOf(version: ReviewVersion, { request, target, uid, object, oldObject }: ReviewedRequest): JsonObject {
  return {
    kind: REVIEW_KIND,
    apiVersion: `${REVIEW_GROUP}/${version}`,
    request: { uid, ...reviewedRequest(request, target), object: object ?? null, oldObject: oldObject ?? null },
  };
}

export interface ReviewResponse {
  readonly isAllowed: boolean;
  /** A Status; only its members that the client gets are used. */
  readonly status: JsonObject | undefined;
  /** The text of the patch; undefined if none exists. */
  readonly patch: Uint8Array | undefined;
  readonly patchType: string;
  readonly warnings: readonly string[];
  readonly auditAnnotations: Readonly<Record<string, string>>;
}

/** Reads a decoded review. Throws an Error with upstream's message if it does not answer the request. */
export function readReview(
  answer: JsonObject,
  { version, uid, isMutating }: { readonly version: ReviewVersion; readonly uid: string; readonly isMutating: boolean },
): ReviewResponse {
  const { response } = answer;
  if (!isObject(response)) throw new Error("webhook response was absent");
  const patch = patchOf(response);
  const { patchType } = response;
  if (version === "v1") {
    if (response["uid"] !== uid) throw new Error(`expected response.uid=${quoteGo(uid)}, got ${quoteGo(textOf(response["uid"]))}`);
    checkKind(answer);
    if (isMutating) checkPatchPair(patch, patchType);
    else checkNoPatch(patch, patchType);
  }
  return {
    isAllowed: response["allowed"] === true,
    status: isObject(response["status"]) ? response["status"] : undefined,
    patch: isMutating ? patch : undefined,
    // v1beta1 has only one type, which is not checked.
    patchType: version === "v1" ? textOf(patchType) : "JSONPatch",
    warnings: Array.isArray(response["warnings"]) ? response["warnings"].filter((one): one is string => typeof one === "string") : [],
    auditAnnotations: textsOf(response["auditAnnotations"]),
  };
}

function checkKind(answer: JsonObject): void {
  const [apiVersion, kind] = [textOf(answer["apiVersion"]), textOf(answer["kind"])];
  if (apiVersion === `${REVIEW_GROUP}/v1` && kind === REVIEW_KIND) return;
  throw new Error(
    `expected webhook response of ${REVIEW_GROUP}/v1, Kind=${REVIEW_KIND}, got ${apiVersion === "" ? "/" : apiVersion}, Kind=${kind}`,
  );
}

function checkPatchPair(patch: Uint8Array | undefined, patchType: Json | undefined): void {
  const hasType = patchType !== undefined && patchType !== null;
  if (patch !== undefined && !hasType) throw new Error("webhook returned response.patch but not response.patchType");
  if (patch === undefined && hasType) throw new Error("webhook returned response.patchType but not response.patch");
  if (hasType && patchType === "") throw new Error('webhook returned invalid response.patchType of ""');
}

function checkNoPatch(patch: Uint8Array | undefined, patchType: Json | undefined): void {
  if (patch !== undefined) throw new Error("validating webhook may not return response.patch");
  if (patchType !== undefined && patchType !== null) throw new Error("validating webhook may not return response.patchType");
}

function patchOf({ patch }: JsonObject): Uint8Array | undefined {
  if (typeof patch !== "string" || patch === "") return undefined;
  return decodeBase64(patch);
}

/** Throws an Error for text that is no JSON. */
export function parsePatch(bytes: Uint8Array): Json {
  return parseJson(bytes, { duplicates: false }).value;
}

function textOf(value: Json | undefined): string {
  return typeof value === "string" ? value : "";
}

function textsOf(value: Json | undefined): Readonly<Record<string, string>> {
  if (!isObject(value)) return {};
  return Object.fromEntries(Object.entries(value).flatMap(([key, text]) => (typeof text === "string" ? [[key, text] as const] : [])));
}
