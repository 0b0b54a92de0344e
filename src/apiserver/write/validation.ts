/** Validates an object or a change; all causes in one error. A step ends where the event loop should be yielded (EvaluationTurns.run). */
import { firstCausesInSteps } from "../../api/machinery/validation-errors.ts";
import { validateObjectMeta, validateObjectMetaUpdate, validateStandardFinalizer } from "../../api/machinery/metadata-validation.ts";
import { errorsOf, type FieldErrors } from "../../api/machinery/findings.ts";
import { validateDnsSubdomain } from "../../api/machinery/names.ts";
import type { KubeObject } from "../../api/machinery/object.ts";
import type { Resource, Subresource } from "../../api/machinery/resource.ts";
import { invalidObject } from "../../api/machinery/status-error.ts";
import type { FieldError } from "../../api/machinery/field-error.ts";
import type { Endpoint } from "../framework/endpoints.ts";
import type { RequestContext } from "../framework/request.ts";

/** The part of a subresource definition that is used here. */
type ObjectSubresource = Extract<Subresource, { readonly of: "object" }>;

/** Maximum number of warnings of one write: 4 KiB of them are shown, and warnings about pairs of items could exceed any number. */
const WARNINGS_MAX = 1_000;

/** `others`: errors that the object alone does not show. */
export function* validateCreate(
  endpoint: Endpoint,
  object: KubeObject,
  context: RequestContext,
  others: Iterable<FieldError> = [],
): Generator<void, void> {
  const { resource, served } = endpoint;
  const rules = served.validate?.(object) ?? resource.validate?.(object) ?? [];
  // A kind that is answered and not stored needs no name; it validates its metadata itself.
  const metadata = resource.stored ? errorsOf((errors) => validateMetadata(errors, resource, object)) : [];
  const first = yield* firstCausesInSteps(...(resource.checksMetadataLast === true ? [others, rules] : [others, metadata, rules]));
  const errors = first.length === 0 && resource.checksMetadataLast === true ? yield* firstCausesInSteps(metadata) : first;
  if (errors.length > 0) throw invalidOf(endpoint, object, errors);
  warn(resource.warnings?.(object) ?? [], context);
}

export function* validateUpdate(
  endpoint: Endpoint,
  { next, previous, subresource }: { readonly next: KubeObject; readonly previous: KubeObject; readonly subresource?: ObjectSubresource },
  context: RequestContext,
  others: Iterable<FieldError> = [],
): Generator<void, void> {
  const { resource, served } = endpoint;
  const metadata =
    next.metadata === previous.metadata ? [] : errorsOf((errors) => validateMetadataUpdate(errors, resource, next, previous));
  const ofVersion = served.validate?.(next, previous);
  const rules =
    subresource !== undefined
      ? [subresource.validateUpdate?.(next, previous, warnOf(context)) ?? []]
      : ofVersion !== undefined
        ? [ofVersion]
        : [resource.validate?.(next, previous, warnOf(context)) ?? [], resource.validateUpdate?.(next, previous) ?? []];
  const errors = yield* firstCausesInSteps(others, metadata, ...rules);
  if (errors.length > 0) throw invalidOf(endpoint, next, errors);
  warn((subresource ?? resource).warnings?.(next, previous) ?? [], context);
}

/** Hands on the first warnings only. */
function warnOf(context: RequestContext): (sentence: string) => void {
  let count = 0;
  return (sentence) => {
    if (++count <= WARNINGS_MAX) context.warn(sentence);
  };
}

function warn(sentences: Iterable<string>, context: RequestContext): void {
  let count = 0;
  for (const sentence of sentences) {
    context.warn(sentence);
    if (++count >= WARNINGS_MAX) return;
  }
}

function validateMetadata(errors: FieldErrors, resource: Resource, { metadata }: KubeObject): void {
  const { validateName = validateDnsSubdomain } = resource;
  validateObjectMeta(errors, metadata, { namespaced: resource.scope === "Namespaced", validateName });
  if (metadata.finalizers === undefined || resource.allowsPlainFinalizers === true) return;
  for (const [index, finalizer] of metadata.finalizers.entries()) {
    validateStandardFinalizer(errors, finalizer, `metadata.finalizers[${index}]`);
  }
}

function validateMetadataUpdate(errors: FieldErrors, resource: Resource, next: KubeObject, previous: KubeObject): void {
  validateObjectMetaUpdate(errors, next.metadata, previous.metadata);
  validateMetadata(errors, resource, next);
}

/** Named by the storage group, as upstream's types are; upstream has no kind in errors of unstored kinds. */
function invalidOf({ resource }: Endpoint, { metadata }: KubeObject, errors: readonly FieldError[]) {
  const kind = resource.stored ? resource.kind : "";
  return invalidObject({ group: resource.storage.group, kind }, metadata.name ?? metadata.generateName ?? "", errors);
}
