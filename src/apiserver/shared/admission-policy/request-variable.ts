/** The variable `request` of expressions: the AdmissionRequest without its objects, which are variables of their own. */
import type { JsonObject } from "../../../api/machinery/object.ts";
import type { AdmissionRequest } from "../../framework/admission.ts";
import type { AdmissionTarget } from "../admission/admission-target.ts";
import { reviewedRequest } from "../admission/reviewed-request.ts";

/** Made once per request and target: several policies read it. */
const known = new WeakMap<
  AdmissionRequest["context"],
  { readonly request: AdmissionRequest; readonly target: AdmissionTarget; readonly value: JsonObject }
>();

export function requestVariable(request: AdmissionRequest, target: AdmissionTarget): JsonObject {
  const last = known.get(request.context);
  if (last?.request === request && last.target === target) return last.value;
  const value = reviewedRequest(request, target);
  known.set(request.context, { request, target, value });
  return value;
}
