/** Validates the options that all writes share, before anything else: all errors in one answer, as upstream. */
import { notSupported, type FieldError } from "../../api/machinery/field-error.ts";
import { errorsOf } from "../../api/machinery/findings.ts";
import { validateFieldManager } from "../../api/machinery/metadata-validation.ts";
import { invalidObject } from "../../api/machinery/status-error.ts";
import type { RequestOptions } from "../../api/machinery/transport.ts";
import { dryRunErrors } from "../shared/deletion.ts";

const FIELD_VALIDATIONS = ["", "Ignore", "Strict", "Warn"];

export type OptionsKind = "CreateOptions" | "UpdateOptions" | "PatchOptions";

/** `more`: errors of options that only this write has. */
export function checkWriteOptions(options: RequestOptions, kind: OptionsKind, more: readonly FieldError[] = []): void {
  const errors = [...more, ...optionsErrors(options)];
  if (errors.length > 0) throw invalidObject({ group: "meta.k8s.io", kind }, "", errors);
}

function* optionsErrors({ fieldManager = "", dryRun = [], fieldValidation = "" }: RequestOptions): Iterable<FieldError> {
  if (fieldManager !== "") yield* errorsOf((errors) => validateFieldManager(errors, fieldManager, "fieldManager"));
  yield* dryRunErrors(dryRun);
  if (!FIELD_VALIDATIONS.includes(fieldValidation)) yield notSupported("fieldValidation", fieldValidation, FIELD_VALIDATIONS);
}
