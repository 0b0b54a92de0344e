/**
 * API groups of the Kubernetes project itself: a definition in one of them carries an annotation with a link to its approval, or the reason
 * why it has none. A definition that was stored in the same state before is not validated.
 */
import type { CustomResourceDefinition } from "../../../generated/apiextensions.k8s.io/v1.ts";
import { element, invalid, required, type FieldError } from "../../../machinery/field-error.ts";
import { parseRequestUrl } from "../schema/request-url.ts";

export const ANNOTATION = "api-approved.kubernetes.io";
export const PROTECTED = /(^|\.)(k8s|kubernetes)\.io$/;
const SEE = "see https://github.com/kubernetes/enhancements/pull/1111";

export function* validateApproval(next: CustomResourceDefinition, previous?: CustomResourceDefinition): Iterable<FieldError> {
  if (!PROTECTED.test(next.spec.group)) return;
  const state = approvalOf(next);
  if (previous !== undefined && approvalOf(previous) === state) return;
  const at = element("metadata.annotations", ANNOTATION);
  const message = `protected groups must have approval annotation ${JSON.stringify(ANNOTATION)}`;
  if (state === "missing") yield required(at, `${message}, ${SEE}`);
  if (state === "invalid")
    yield invalid(at, approvalText(next), `${message} with either a URL or a reason starting with "unapproved", ${SEE}`);
}

export function approvalText({ metadata }: CustomResourceDefinition): string {
  return metadata.annotations?.[ANNOTATION] ?? "";
}

export function approvalOf(definition: CustomResourceDefinition): "missing" | "bypassed" | "approved" | "invalid" {
  const text = approvalText(definition);
  if (text === "") return "missing";
  if (text.startsWith("unapproved")) return "bypassed";
  const url = parseRequestUrl(text);
  return url !== undefined && url.host !== "" && url.scheme !== "" ? "approved" : "invalid";
}
