/**
 * The rollback revision that was a field in removed versions of Deployment. In apps/v1 it is an annotation, which upstream still parses: a
 * malformed one is rejected, and the number is stored in canonical form.
 */
import type { Deployment } from "../../generated/apps/v1.ts";
import { invalid, type FieldError } from "../../machinery/field-error.ts";
import { badRequest } from "../../machinery/status-error.ts";
import { NOT_NEGATIVE } from "../../number-validation.ts";
import { readInt64 } from "./annotated-number.ts";

export const ROLLBACK_ANNOTATION = "deprecated.deployment.rollback.to";

/** The annotation in canonical form; an empty one is removed. */
export function withReadableRollback(deployment: Deployment): Deployment {
  const { annotations } = deployment.metadata;
  const text = annotations?.[ROLLBACK_ANNOTATION];
  if (text === undefined) return deployment;
  const shown = text === "" ? undefined : readRevision(text).toString();
  if (shown === text) return deployment;
  const { [ROLLBACK_ANNOTATION]: _, ...others } = annotations ?? {};
  const changed = shown === undefined ? others : { ...others, [ROLLBACK_ANNOTATION]: shown };
  return { ...deployment, metadata: { ...deployment.metadata, annotations: changed } };
}

function readRevision(text: string): bigint {
  return readInt64(text, (parsing) => {
    const why = `failed to parse annotation[${ROLLBACK_ANNOTATION}]=${text} as int64: ${parsing}`;
    return badRequest(`Deployment in version "v1" cannot be handled as a Deployment: ${why}`);
  });
}

/** Upstream reports the field of its internal type, which clients cannot see. */
export function* validateRollback(text: string | undefined): Iterable<FieldError> {
  if (text?.startsWith("-") === true) yield invalid("spec.rollback.version", BigInt(text), NOT_NEGATIVE);
}
